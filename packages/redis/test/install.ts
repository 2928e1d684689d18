/**
 * Before the tests of this package: installs Debian's `redis-server` where it is not there and the tests run as root, and starts one
 * server for all files, in which each test has a prefix of its own.
 */
import { Effect, Exit, Scope } from "effect"
import { execFileSync } from "node:child_process"
import type { TestProject } from "vitest/node"
import * as RedisServer from "./RedisServer.js"

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the server. */
    readonly redis: string
  }
}

const isThere = () => {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const install = (): void => {
  if (isThere()) return
  if (process.getuid?.() === 0) {
    const apt = "apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60"
    const install = `${apt} update && ${apt} install -y --no-install-recommends redis-server`
    execFileSync("bash", ["-c", install], { stdio: ["ignore", "ignore", "inherit"], timeout: 240_000 })
  }
  if (!isThere()) throw new Error("These tests need redis-server: install it (Debian: apt install redis-server)")
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  install()
  const scope = Effect.runSync(Scope.make())
  const { url } = await Effect.runPromise(Scope.extend(RedisServer.make([]), scope))
  project.provide("redis", url)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
