/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted; nothing runs.
 */
import { LibsqlClient } from "@effect/sql-libsql"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import * as SqlChangeBus from "@effect-mcp/sql/SqlChangeBus"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlCredentialStore from "@effect-mcp/sql/SqlCredentialStore"
import * as SqlEventStore from "@effect-mcp/sql/SqlEventStore"
import * as SqlInbox from "@effect-mcp/sql/SqlInbox"
import * as SqlMigrations from "@effect-mcp/sql/SqlMigrations"
import * as SqlNodes from "@effect-mcp/sql/SqlNodes"
import * as SqlSessionDirectory from "@effect-mcp/sql/SqlSessionDirectory"
import * as SqlTaskStore from "@effect-mcp/sql/SqlTaskStore"
import { Effect, Layer, Redacted } from "effect"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

const migrations = { prefix: "shop_" } satisfies Every<SqlMigrations.Options>

const connection = { ...migrations, migrate: false, timeout: "5 seconds" } satisfies Every<SqlConnection.Options>

const postgres = {
  ...connection,
  url: Redacted.make("postgres://user:secret@db.internal/shop"),
  maxConnections: 5
} satisfies Every<PgNodes.Options>

const changes = { maxChanges: 100 } satisfies Every<SqlChangeBus.Options>

const credentials = { maxRecords: 100 } satisfies Every<SqlCredentialStore.Options>

const events = { maxEvents: 100, maxWaiting: 1_000_000, retention: "5 minutes", ttl: "1 hour" } satisfies Every<
  SqlEventStore.Options
>

const inbox = { maxSize: 1_000_000, lease: "10 seconds" } satisfies Every<SqlInbox.Options>

const directory = { lease: "3 seconds", renewal: "750 millis", ttl: "1 hour" } satisfies Every<
  SqlSessionDirectory.Options
>

const tasks = { maxTasks: 100, maxTaskSize: 1_000_000, maxOwnerSize: 10_000_000 } satisfies Every<SqlTaskStore.Options>

const client = LibsqlClient.layer({ url: "file:mcp.db" })

export const One = Layer.mergeAll(
  SqlChangeBus.layerWith(changes),
  SqlCredentialStore.layer("ada", credentials),
  SqlEventStore.layerWith(events),
  SqlInbox.layerWith(inbox),
  SqlSessionDirectory.layerWith(directory),
  SqlTaskStore.layerWith(tasks)
).pipe(Layer.provide(SqlConnection.layerWith(connection)), Layer.provide(client))

export const All = [PgNodes.layer(postgres), Layer.provide(SqlNodes.layerWith(connection), client)]

export const migrated = Effect.provide(SqlMigrations.run(migrations), client)
