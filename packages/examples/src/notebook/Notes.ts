/**
 * The notes, a service over a SQLite database in memory, which is closed with its layer. Its methods cannot fail: a broken
 * statement is a bug.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import initSqlJs from "sql.js"

export class Notes extends Context.Tag("example/Notes")<Notes, {
  /** Whether the title was free. */
  readonly add: (title: string, text: string) => Effect.Effect<boolean>
  readonly text: (title: string) => Effect.Effect<string | undefined>
  readonly withWord: (word: string, limit: number) => Effect.Effect<ReadonlyArray<string>>
  readonly titles: (prefix: string) => Effect.Effect<ReadonlyArray<string>>
}>() {}

export const layer = Layer.scoped(
  Notes,
  Effect.gen(function*() {
    const SQL = yield* Effect.promise(() => initSqlJs())
    const db = yield* Effect.acquireRelease(
      Effect.sync(() => new SQL.Database()),
      (db) => Effect.sync(() => db.close())
    )
    db.run("CREATE TABLE note (title TEXT PRIMARY KEY, text TEXT NOT NULL)")
    /** The first column of the rows. */
    const query = (sql: string, ...values: ReadonlyArray<string | number>) =>
      Effect.sync(() => (db.exec(sql, [...values])[0]?.values ?? []).map(([column]) => String(column)))
    return Notes.of({
      add: (title, text) =>
        Effect.map(
          query("INSERT INTO note VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING title", title, text),
          ({ length }) => length === 1
        ),
      text: (title) => Effect.map(query("SELECT text FROM note WHERE title = ?", title), ([text]) => text),
      withWord: (word, limit) =>
        query("SELECT title FROM note WHERE instr(title || ' ' || text, ?) ORDER BY title LIMIT ?", word, limit),
      titles: (prefix) => query("SELECT title FROM note WHERE instr(title, ?) = 1 ORDER BY title LIMIT 100", prefix)
    })
  })
)
