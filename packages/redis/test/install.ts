/**
 * Before the tests of this package: starts one Redis server for all files, in which each test has a prefix of its own.
 */
import { Effect, Exit, Scope } from "effect"
import type { TestProject } from "vitest/node"
import * as Engine from "../../node/test/Engine.js"
import * as RedisServer from "./RedisServer.js"

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the server. */
    readonly redis: string
  }
}

export default async (project: TestProject): Promise<() => void | Promise<void>> => {
  if (Engine.isSkipped(RedisServer.engine)) return () => Engine.tell(RedisServer.engine)
  Engine.install(RedisServer.engine)
  const scope = Effect.runSync(Scope.make())
  const { url } = await Effect.runPromise(Scope.extend(RedisServer.make([]), scope))
  project.provide("redis", url)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
