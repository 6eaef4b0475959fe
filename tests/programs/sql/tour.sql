-- A tour of SQLite: types, constraints, joins, windows, recursion, triggers, JSON, full-text search, transactions.
SELECT 'version', sqlite_version() >= '3.30';
PRAGMA foreign_keys = ON;
CREATE TABLE country (
  code TEXT PRIMARY KEY CHECK (length(code) = 2),
  name TEXT NOT NULL UNIQUE,
  area REAL
) WITHOUT ROWID;
CREATE TABLE city (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  country TEXT NOT NULL REFERENCES country(code) ON DELETE CASCADE,
  people INTEGER DEFAULT 0
);
CREATE INDEX city_by_country ON city(country, people DESC);
INSERT INTO country VALUES ('de', 'Germany', 357022.0), ('fr', 'France', 551695.0), ('jp', 'Japan', 377975.0);
INSERT INTO city (name, country, people) VALUES
  ('Berlin', 'de', 3645000), ('Hamburg', 'de', 1841000), ('Paris', 'fr', 2161000),
  ('Lyon', 'fr', 513000), ('Tokyo', 'jp', 13960000), ('Osaka', 'jp', 2691000), ('Kyoto', 'jp', 1475000);
SELECT country.name, count(*), sum(people) FROM city JOIN country ON code = country GROUP BY code ORDER BY 3 DESC;
SELECT name, people, rank() OVER (PARTITION BY country ORDER BY people DESC) AS place FROM city ORDER BY country, place;
SELECT name, round(100.0 * people / sum(people) OVER (), 2) FROM city ORDER BY id;
INSERT INTO city (name, country) VALUES ('Atlantis', 'xx');
INSERT INTO country VALUES ('usa', 'too long', 1);
INSERT INTO country VALUES ('dd', 'Germany', 1);
SELECT count(*) FROM city;
WITH RECURSIVE fib(n, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT n + 1, b, a + b FROM fib WHERE n < 60)
  SELECT n, a FROM fib WHERE n % 15 = 0;
CREATE TABLE numbers (n INTEGER PRIMARY KEY, square INTEGER, word TEXT, blob BLOB);
BEGIN;
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000)
  INSERT INTO numbers SELECT n, n * n, printf('%08x', n * 2654435761 % 4294967296), zeroblob(n % 17) FROM c;
COMMIT;
SELECT count(*), sum(square), min(word), max(word), sum(length(blob)) FROM numbers;
CREATE INDEX numbers_by_word ON numbers(word);
SELECT n, word FROM numbers WHERE word BETWEEN '80' AND '8008' ORDER BY word LIMIT 5;
SELECT group_concat(n, ',') FROM (SELECT n FROM numbers WHERE n % 2500 = 0 ORDER BY n DESC);
EXPLAIN QUERY PLAN SELECT * FROM numbers WHERE word = 'abc';
CREATE TABLE log (what TEXT, old INTEGER, new INTEGER);
CREATE TRIGGER note AFTER UPDATE OF people ON city BEGIN
  INSERT INTO log VALUES (new.name, old.people, new.people);
END;
UPDATE city SET people = people + 1000 WHERE country = 'fr';
SELECT * FROM log;
BEGIN;
DELETE FROM country WHERE code = 'jp';
SELECT count(*) FROM city;
ROLLBACK;
SELECT count(*) FROM city;
SAVEPOINT outer_one;
DELETE FROM city;
SAVEPOINT inner_one;
INSERT INTO city (name, country) VALUES ('Nowhere', 'de');
RELEASE inner_one;
SELECT count(*) FROM city;
ROLLBACK TO outer_one;
RELEASE outer_one;
SELECT count(*) FROM city;
SELECT typeof(1), typeof(1.5), typeof('x'), typeof(x'00ff'), typeof(NULL), quote(x'00ff'), 7 / 2, 7 % 3, -7 / 2;
SELECT 9223372036854775807 + 1, 1e308 * 10, 0.1 + 0.2, 1.0 / 3, CAST('12abc' AS INTEGER), abs(-5.5);
SELECT sqrt(2), pow(2, 0.5), ln(10), sin(1), atan2(1, 2), ceil(1.2), floor(-1.2), pi();
SELECT upper('straße'), length('straße'), substr('straße', 5, 1), unicode('ß'), char(9731), instr('hoist', 'is');
SELECT 'abc' LIKE 'A_C', 'abc' GLOB 'a*', 'abc' BETWEEN 'abb' AND 'abd', coalesce(NULL, NULL, 3), nullif(2, 2), iif(0, 'y', 'n');
SELECT json_extract('{"a": [1, {"b": "deep"}]}', '$.a[1].b'), json_array_length('[1,2,3]'), json_object('k', json('[null,true]'));
SELECT key, value, type FROM json_each('{"x": 1, "y": "two", "z": null}');
SELECT json_group_array(name) FROM (SELECT name FROM city ORDER BY name);
CREATE VIRTUAL TABLE notes USING fts5(title, body);
INSERT INTO notes VALUES ('Cranes', 'A crane lifts heavy loads with a hoist and a rope'),
  ('Compilers', 'A compiler lowers programs to machine code'), ('Ropes', 'Rope, rope, and more rope');
SELECT title FROM notes WHERE notes MATCH 'rope' ORDER BY rank;
SELECT highlight(notes, 1, '<', '>') FROM notes WHERE notes MATCH 'hoist OR compil*' ORDER BY rowid;
SELECT date('2026-11-30', '+1 month', 'start of month', '-1 day'), julianday('2000-01-01 12:00'), strftime('%j %W', '2024-02-29');
CREATE VIEW big AS SELECT name, people FROM city WHERE people > 2000000;
SELECT * FROM big ORDER BY people;
ALTER TABLE city ADD COLUMN mayor TEXT DEFAULT 'unknown';
ALTER TABLE city RENAME COLUMN people TO inhabitants;
SELECT name, inhabitants, mayor FROM city WHERE id <= 2;
INSERT INTO city (id, name, country, inhabitants) VALUES (1, 'Berlin', 'de', 3700000)
  ON CONFLICT (id) DO UPDATE SET inhabitants = excluded.inhabitants RETURNING id, inhabitants;
DELETE FROM numbers WHERE n % 3 = 0;
SELECT count(*) FROM numbers;
SELECT a.n, b.n FROM numbers a JOIN numbers b ON a.square + b.square = 10201 WHERE a.n < b.n;
SELECT n, sum(n) OVER (ORDER BY n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM numbers WHERE n < 10;
SELECT x.column1, y.column1 FROM (VALUES (1), (2)) AS x, (VALUES ('a'), ('b')) AS y ORDER BY 2, 1;
SELECT 1 UNION SELECT 2 UNION ALL SELECT 2 EXCEPT SELECT 1;
SELECT * FROM missing;
SELEC 1;
CREATE TABLE deep AS SELECT n, (SELECT count(*) FROM numbers m WHERE m.n < numbers.n AND m.n > numbers.n - 10) AS near FROM numbers WHERE n < 300;
SELECT near, count(*) FROM deep GROUP BY near ORDER BY near;
ANALYZE;
VACUUM;
PRAGMA integrity_check;
SELECT page_count > 10 FROM pragma_page_count;
SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' AND name NOT LIKE 'notes_%' ORDER BY name;
