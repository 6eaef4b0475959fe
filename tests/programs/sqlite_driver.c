// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small shell for SQLite that behaves the same natively and as WebAssembly.
//
//   sqlite DATABASE SCRIPT    runs the statements of SCRIPT; prints rows as a|b|c, errors as "error: ..."
//   sqlite DATABASE --write N makes table t, then N transactions that each move an amount between rows
//   sqlite DATABASE --read N  N times: the sum over t, which no transaction changes; prints "consistent"
//
// Locking is by lock files (SQLite's unix-dotfile): WASI has no record locks.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

static int print_row(void* unused, int columns, char** values, char** names) {
  (void)unused;
  (void)names;
  for (int i = 0; i < columns; ++i) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
  printf("\n");
  return 0;
}

static int exec(sqlite3* db, const char* sql) {
  char* message = NULL;
  int rc = sqlite3_exec(db, sql, print_row, NULL, &message);
  if (rc != SQLITE_OK) printf("error: %s\n", message ? message : sqlite3_errstr(rc));
  sqlite3_free(message);
  return rc;
}

static char* read_all(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  size_t used = 0, room = 4096;
  char* text = malloc(room + 1);
  for (size_t n; (n = fread(text + used, 1, room - used, file)) > 0;) {
    used += n;
    if (used == room) text = realloc(text, (room *= 2) + 1);
  }
  text[used] = 0;
  fclose(file);
  return text;
}

/// One statement at a time, so that an error does not end the script.
static int run_script(sqlite3* db, const char* path) {
  char* script = read_all(path);
  if (!script) {
    fprintf(stderr, "cannot read %s\n", path);
    return 1;
  }
  char* begin = script;
  for (char* at = script; *at; ++at) {
    if (*at != ';') continue;
    char saved = at[1];
    at[1] = 0;
    if (sqlite3_complete(begin)) {
      exec(db, begin);
      begin = at + 1;
    }
    at[1] = saved;
  }
  free(script);
  return 0;
}

static int write_rounds(sqlite3* db, int rounds) {
  if (exec(db, "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, amount INTEGER)") ||
      exec(db, "BEGIN IMMEDIATE; DELETE FROM t; INSERT INTO t VALUES (1, 500), (2, 300), (3, 200); COMMIT"))
    return 1;
  for (int i = 0; i < rounds; ++i) {
    char sql[200];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE; UPDATE t SET amount = amount - %d WHERE id = %d;"
             "UPDATE t SET amount = amount + %d WHERE id = %d; COMMIT",
             i % 7 + 1, i % 3 + 1, i % 7 + 1, (i + 1) % 3 + 1);
    if (exec(db, sql)) return 1;
  }
  printf("written\n");
  return 0;
}

static int read_rounds(sqlite3* db, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    sqlite3_stmt* query;
    if (sqlite3_prepare_v2(db, "SELECT sum(amount), count(*) FROM t", -1, &query, NULL) != SQLITE_OK ||
        sqlite3_step(query) != SQLITE_ROW) {
      printf("error: %s\n", sqlite3_errmsg(db));
      return 1;
    }
    long long sum = sqlite3_column_int64(query, 0);
    int rows = sqlite3_column_int(query, 1);
    sqlite3_finalize(query);
    if (rows != 3 || sum != 1000) {
      printf("inconsistent: %d rows, sum %lld\n", rows, sum);
      return 1;
    }
  }
  printf("consistent\n");
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: sqlite DATABASE SCRIPT | --write N | --read N\n");
    return 2;
  }
  sqlite3* db;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(argv[1], &db, flags, "unix-dotfile") != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
    return 1;
  }
  sqlite3_busy_timeout(db, 20000);
  int rc;
  if (argc == 3) {
    rc = run_script(db, argv[2]);
  } else if (strcmp(argv[2], "--write") == 0) {
    rc = write_rounds(db, atoi(argv[3]));
  } else {
    rc = read_rounds(db, atoi(argv[3]));
  }
  if (sqlite3_close(db) != SQLITE_OK) rc = 1;
  return rc;
}
