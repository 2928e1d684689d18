// Runs tests as a newcomer does: as a user who is not root, on a machine without the engines that some tests start. The tests that
// need an engine must be skipped and named at the end, the others must pass, and with CI=true nothing may be skipped.
// Needs root, because it runs the tests as another user in a copy of this checkout.
import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root } from "./workspace.mjs"

/** The packages whose tests start engines, and one that needs none. */
const packages = ["redis", "sql", "cluster", "testing"]

/** What a newcomer's machine has. */
const programs = ["bash", "env", "git", "sh"]

/** A user that owns nothing else. */
const [uid, gid] = [64_123, 64_123]

const fail = (why) => {
  console.error(`FAILED: ${why}`)
  process.exitCode = 1
}

const pathOf = (program) => spawnSync("which", [program], { encoding: "utf8" }).stdout.trim()

const home = mkdtempSync(join(tmpdir(), "newcomer-"))
try {
  const checkout = join(home, "effect-mcp")
  const listed = spawnSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 24 })
  const modules = [
    "node_modules",
    ...spawnSync("bash", ["-c", "ls -d packages/*/node_modules"], {
      cwd: root,
      encoding: "utf8"
    }).stdout.trim().split("\n")
  ]
  for (const path of [...listed.stdout.split("\0").filter(Boolean), ...modules]) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    cpSync(join(root, path), join(checkout, path), { recursive: true, verbatimSymlinks: true })
  }
  const bin = join(home, "bin")
  mkdirSync(bin)
  for (const program of programs) symlinkSync(pathOf(program), join(bin, program))
  symlinkSync(process.execPath, join(bin, "node"))
  chmodSync(home, 0o755)
  const { status } = spawnSync("chown", ["-R", `${uid}:${gid}`, home])
  if (status !== 0) throw new Error("This script needs root: it gives a copy of the checkout to another user")

  const run = (env, seconds) => {
    const args = [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--no-isolate",
      ...packages.map((name) => `packages/${name}/`)
    ]
    const { signal, status, stderr, stdout } = spawnSync("node", args, {
      cwd: checkout,
      encoding: "utf8",
      env: { HOME: home, PATH: bin, PG_BIN: join(home, "nowhere"), TMPDIR: home, ...env },
      gid,
      maxBuffer: 2 ** 26,
      timeout: seconds * 1000,
      uid
    })
    return {
      text: stdout + stderr,
      status,
      ended: signal === null ? `status ${status}` : `${signal}, perhaps after the limit of ${seconds} s`
    }
  }

  const newcomer = run({}, 110)
  console.log(newcomer.text.split("\n").slice(-30).join("\n"))
  if (newcomer.status !== 0) fail(`the tests of a newcomer ended with ${newcomer.ended}`)
  for (const engine of ["redis-server", "PostgreSQL", "nginx"]) {
    if (!new RegExp(`^Not run: .*, because ${engine} is not there`, "m").test(newcomer.text)) {
      fail(`the end of the run does not say that tests were skipped for want of ${engine}`)
    }
  }
  const ci = run({ CI: "true" }, 40)
  if (ci.status === 0 || !/These tests cannot run: .* is not there/.test(ci.text)) {
    fail(`with CI=true, tests whose engine is not there must fail; the run ended with ${ci.ended}`)
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
