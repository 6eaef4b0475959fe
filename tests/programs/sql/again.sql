-- The database of tour.sql, opened again by a new process.
PRAGMA integrity_check;
SELECT name, inhabitants FROM city ORDER BY inhabitants DESC LIMIT 3;
SELECT count(*), sum(square) FROM numbers;
SELECT title FROM notes WHERE notes MATCH 'heavy';
UPDATE city SET inhabitants = inhabitants + 1;
SELECT count(*) FROM log;
