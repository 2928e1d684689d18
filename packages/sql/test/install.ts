/**
 * Before the tests of this package: starts one PostgreSQL server for all files, in which each test has a database of its own.
 */
import { Effect, Exit, Scope } from "effect"
import type { TestProject } from "vitest/node"
import * as Engine from "../../node/test/Engine.js"
import * as PostgresProcess from "./PostgresProcess.js"

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the server, where there is one. */
    readonly postgres: string | undefined
    /** A folder with an empty database, for servers of single tests. */
    readonly postgresTemplate: string
  }
}

export default async (project: TestProject): Promise<() => void | Promise<void>> => {
  if (Engine.isSkipped(PostgresProcess.engine)) return () => Engine.tell(PostgresProcess.engine)
  Engine.install(PostgresProcess.engine)
  const scope = Effect.runSync(Scope.make())
  const settings = ["max_connections=300"]
  const template = await Effect.runPromise(Scope.extend(PostgresProcess.template, scope))
  const { url } = await Effect.runPromise(Scope.extend(PostgresProcess.make({ settings, template }), scope))
  project.provide("postgres", url)
  project.provide("postgresTemplate", template)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
