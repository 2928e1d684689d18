/**
 * Installs Debian's packages of the programs that this package starts. When this process runs as root, it installs a missing program.
 * Otherwise the error asks the user to install the program.
 */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { ProcessError } from "./Child.js"

const run = (command: string, args: ReadonlyArray<string>): Effect.Effect<void, ProcessError> =>
  Effect.async((resume) => {
    execFile(command, args, { timeout: 100_000 }, (error) =>
      resume(
        error === null ? Effect.void : Effect.fail(new ProcessError({ message: error.message }))
      ))
  })

/**
 * Checks that a program is installed, and installs it if it is missing. `version` is the argument with which the program prints its
 * version. Two installations at the same time fail, so install one program after another.
 */
export const provide = (
  program: string,
  debianPackage: string,
  version: string
): Effect.Effect<void, ProcessError> =>
  Effect.catchAll(run(program, [version]), () => {
    if (process.getuid?.() !== 0) {
      return new ProcessError({ message: `${program} is not there: install it (Debian: apt install ${debianPackage})` })
    }
    // The installation must not start the program as a service.
    const script = `export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
      options="-q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60"
      apt-get $options update && apt-get $options install -y --no-install-recommends ${debianPackage}`
    return Effect.zipRight(run("bash", ["-c", script]), run(program, [version]))
  })
