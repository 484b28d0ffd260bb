// SQLite as this code uses it: statements that finalize themselves, errors as values with the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace cuzk {

class SqliteDatabase;

// A prepared statement. Move-only; ends before its database. Parameters count from 1, columns from 0.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  void bind(int parameter, int64_t value);
  // The bytes must stay until run() or the last step().
  void bind(int parameter, std::string_view blob);

  // True at a row, false after the last one, when it can be bound and stepped anew.
  Result<bool> step();
  // Steps through all rows, which it throws away.
  Status run();
  // Back to before the first row.
  void reset();

  int64_t integer(int column) const;
  // Valid until the next step().
  std::string_view blob(int column) const;

 private:
  friend class SqliteDatabase;
  SqliteStatement(const SqliteDatabase* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  void finalize();

  const SqliteDatabase* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  int bind_result_ = 0;  // the first that failed since the last reset
};

// A connection, for one thread at a time; stays where it is. Errors of all members, each with the file: kResource (disk
// full, no memory, too large), kIo, kCorrupt (damaged, or no database), kUsage (locked by another process), kInternal.
class SqliteDatabase {
 public:
  explicit SqliteDatabase(std::string file) : file_(std::move(file)) {}
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;
  ~SqliteDatabase();

  // The file must be there.
  Status open();
  // All statements of it have ended.
  Status close();

  Result<SqliteStatement> prepare(std::string_view sql);
  Status run(std::string_view sql);
  // Of a statement with one column: its first row.
  Result<int64_t> integer(std::string_view sql);

  const std::string& file() const { return file_; }
  Error error(int result) const;

 private:
  const std::string file_;
  sqlite3* connection_ = nullptr;
};

}  // namespace cuzk
