// Breaks the import rules on purpose, in a small tree: a rule that cannot fire protects nothing. The arrows between the areas of core are
// kept twice: by dependency-cruiser in words, and by the compiler, which has a project for each area.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { root } from "./workspace.mjs"

const at = mkdtempSync(join(tmpdir(), "imports-"))
after(() => rmSync(at, { recursive: true, force: true }))

for (const name of ["node_modules", "tsconfig.base.json"]) symlinkSync(join(root, name), join(at, name))

const core = join(at, "packages/core")
mkdirSync(core, { recursive: true })
for (const name of readdirSync(join(root, "packages/core")).filter((name) => /^tsconfig\..*\.json$/.test(name))) {
  copyFileSync(join(root, "packages/core", name), join(core, name))
}
writeFileSync(
  join(core, "package.json"),
  JSON.stringify({
    name: "@effect-mcp/core",
    type: "module",
    exports: { "./Tool": { "@effect-mcp/source": "./src/definition/Tool.ts" } }
  })
)

const files = {
  "core/src/kit/Part.ts": ["effect/Effect"],
  "core/src/jsonrpc/runtime/Probe.ts": [
    "node:fs",
    "@effect/platform/HttpClient",
    "@effect/platform-node/NodeRuntime",
    "./None.js"
  ],
  "core/src/jsonrpc/A.ts": ["./B.js"],
  "core/src/jsonrpc/B.ts": ["./A.js"],
  "core/src/jsonrpc/Up.ts": ["../protocol/Version.js"],
  "core/src/protocol/Version.ts": ["../kit/Part.js"],
  "core/src/definition/Tool.ts": ["effect/Effect"],
  "core/src/server/Self.ts": ["@effect-mcp/core/Tool"],
  "core/src/server/Beside.ts": ["../client/Client.js"],
  "core/src/server/runtime/Low.ts": ["../features/High.js", "../legacy/Old.js"],
  "core/src/server/features/High.ts": ["effect/Effect"],
  "core/src/server/legacy/Old.ts": ["../modern/New.js"],
  "core/src/server/modern/New.ts": ["effect/Effect"],
  "core/src/server/WebHandler.ts": ["./Shell.js"],
  "core/src/server/Shell.ts": ["@effect/platform/HttpServer"],
  "core/src/client/Client.ts": ["effect/Effect"],
  "openapi/src/Up.ts": ["../../node/src/Stdio.js"],
  "node/src/Stdio.ts": ["effect/Effect"]
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
      "arrows-openapi",
      "areas-core-jsonrpc",
      "areas-core-server",
      "self",
      "folders-core-server-runtime",
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

describe("the compiler", () => {
  const { stdout } = spawnSync(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-b", "packages/core/tsconfig.src.json"],
    { cwd: at, encoding: "utf8" }
  )
  for (
    const [what, error] of [
      ["an import of a higher area", /^packages\/core\/src\/jsonrpc\/Up\.ts.* TS6307: .*\/src\/protocol\/Version\.ts/m],
      [
        "an import of the other side",
        /^packages\/core\/src\/server\/Beside\.ts.* TS6307: .*\/src\/client\/Client\.ts/m
      ],
      ["an import by the name of the package", /^packages\/core\/src\/server\/Self\.ts/m]
    ]
  ) {
    it(`refuses ${what}`, () => assert.match(stdout, error))
  }

  it("takes an import of a lower area", () => assert.doesNotMatch(stdout, /src\/protocol\/Version\.ts\(/))
})
