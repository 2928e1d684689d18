// Breaks the import rules on purpose, in a small tree: a rule that cannot fire protects nothing.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { root } from "./workspace.mjs"

const at = mkdtempSync(join(tmpdir(), "imports-"))
after(() => rmSync(at, { recursive: true, force: true }))

for (const name of ["node_modules", "tsconfig.base.json"]) symlinkSync(join(root, name), join(at, name))

const files = {
  "jsonrpc/src/runtime/Probe.ts": [
    "node:fs",
    "@effect/platform/HttpClient",
    "@effect/platform-node/NodeRuntime",
    "./None.js"
  ],
  "jsonrpc/src/A.ts": ["./B.js"],
  "jsonrpc/src/B.ts": ["./A.js"],
  "protocol/src/Up.ts": ["../../jsonrpc/src/A.js"],
  "server/src/runtime/Low.ts": ["../features/High.js", "../legacy/Old.js"],
  "server/src/features/High.ts": ["effect/Effect"],
  "server/src/legacy/Old.ts": ["../modern/New.js"],
  "server/src/modern/New.ts": ["effect/Effect"],
  "server/src/WebHandler.ts": ["./Shell.js"],
  "server/src/Shell.ts": ["@effect/platform/HttpServer"],
  "client/src/Twin.ts": ["../../server/src/features/High.js"]
}

for (const [path, specifiers] of Object.entries(files)) {
  const file = join(at, "packages", path)
  mkdirSync(dirname(file), { recursive: true })
  const lines = specifiers.map((specifier, index) => `import * as M${index} from "${specifier}"`)
  writeFileSync(
    file,
    `${lines.join("\n")}\nexport const all = [${specifiers.map((_, index) => `M${index}`).join(", ")}]\n`
  )
}

describe("the import rules", () => {
  const { stdout } = spawnSync(process.execPath, [
    join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs"),
    "--config",
    join(root, ".dependency-cruiser.mjs"),
    "--output-type",
    "json",
    "packages"
  ], { cwd: at, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
  const fired = new Set(JSON.parse(stdout).summary.violations.map(({ rule }) => rule.name))
  for (
    const rule of [
      "no-circular",
      "arrows-client",
      "folders-server-runtime",
      "era-legacy",
      "era-neutral",
      "published",
      "platform",
      "platform-node",
      "builtin",
      "web",
      "resolved"
    ]
  ) {
    it(`fire: ${rule}`, () => assert.ok(fired.has(rule), [...fired].join(", ")))
  }
})
