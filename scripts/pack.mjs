// `npm run tarballs`: packs every published package into build/tarballs as a release would have it, and prints how a project beside this clone
// installs them.
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { release, writeRelease } from "./flat.mjs"
import { readWorkspace, root } from "./workspace.mjs"

const to = join(root, "build/tarballs")

console.log("Writing the packages as a release has them")
console.log(`  ${await writeRelease()}`)
rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
const published = readWorkspace().packages.filter(({ manifest }) => manifest !== undefined && manifest.private !== true)
console.log(`Packing ${published.length} packages`)
const { status } = spawnSync(
  "npm",
  ["pack", "--silent", "--pack-destination", to, ...published.map(({ path }) => `./${path}`)],
  { cwd: join(root, release), stdio: ["ignore", "ignore", "inherit"], shell: process.platform === "win32" }
)
if (status !== 0) throw new Error(`npm pack ended with ${status}`)
const file = (name) => join(to, `effect-mcp-${name}-${published.find((one) => one.name === name).manifest.version}.tgz`)
console.log(`
Install them in a project beside this clone:
  npm install ${file("core")} ${file("node")} effect@^3.22 @effect/platform@^0.97 @effect/platform-node@^0.108`)
