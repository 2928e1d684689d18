/**
 * Before the tests of this package: installs Debian's PostgreSQL where it is not there and the tests run as root, and starts one
 * server for all files, in which each test has a database of its own.
 */
import { Effect, Exit, Scope } from "effect"
import { execFileSync } from "node:child_process"
import type { TestProject } from "vitest/node"
import * as PostgresProcess from "./PostgresProcess.js"

declare module "vitest" {
  export interface ProvidedContext {
    /** The address of the server. */
    readonly postgres: string
    /** A folder with an empty database, for servers of single tests. */
    readonly postgresTemplate: string
  }
}

const install = (): void => {
  if (PostgresProcess.programs() !== undefined) return
  if (process.getuid?.() === 0) {
    const apt = "apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60"
    const command = `${apt} update && ${apt} install -y --no-install-recommends postgresql`
    execFileSync("bash", ["-c", command], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
      timeout: 240_000
    })
  }
  if (PostgresProcess.programs() === undefined) {
    throw new Error("These tests need PostgreSQL: install it (Debian: apt install postgresql)")
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  install()
  const scope = Effect.runSync(Scope.make())
  const settings = ["max_connections=300"]
  const template = await Effect.runPromise(Scope.extend(PostgresProcess.template, scope))
  const { url } = await Effect.runPromise(Scope.extend(PostgresProcess.make({ settings, template }), scope))
  project.provide("postgres", url)
  project.provide("postgresTemplate", template)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
