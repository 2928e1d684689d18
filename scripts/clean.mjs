// Removes what builds leave behind: every package's dist/ and build/, and coverage/.
import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const packages = join(root, "packages")
for (const name of existsSync(packages) ? readdirSync(packages) : []) {
  for (const folder of ["dist", "build"]) rmSync(join(packages, name, folder), { recursive: true, force: true })
}
rmSync(join(root, "coverage"), { recursive: true, force: true })
