/**
 * The engines that tests start, such as Redis: installs Debian's package where the tests run as root, and otherwise tells at the end of
 * the run which tests were skipped for want of an engine. With `CI=true` no test is skipped.
 */
import { execFileSync } from "node:child_process"

export interface Engine {
  readonly name: string
  readonly isThere: () => boolean
  /** The name of Debian's package. */
  readonly debian: string
  /** The command that installs it on macOS, and what else it needs there. */
  readonly macos: string
  /** The tests that need it. */
  readonly tests: string
}

const installs = (): boolean => {
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync("apt-get", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Whether the tests that need an engine are skipped. */
export const isSkipped = ({ isThere }: Engine): boolean => process.env.CI !== "true" && !isThere() && !installs()

/** What to do about a missing engine. */
const advice = ({ debian, macos, name }: Engine): string =>
  `${name} is not there. Debian: apt install ${debian}. macOS: ${macos}.`

/** Tells that tests were skipped. */
export const tell = (engine: Engine): void => console.log(`\nNot run: ${engine.tests}, because ${advice(engine)}`)

/** Installs an engine where it is not there; fails where that is not possible. */
export const install = (engine: Engine): void => {
  if (!engine.isThere() && installs()) {
    const apt = "apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60"
    execFileSync("bash", ["-c", `${apt} update && ${apt} install -y --no-install-recommends ${engine.debian}`], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
      timeout: 240_000
    })
  }
  if (!engine.isThere()) throw new Error(`These tests cannot run: ${advice(engine)}`)
}
