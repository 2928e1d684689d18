// What a lock file must be for `npm ci` to work anywhere: no download addresses, so that it installs from any registry,
// and no dependency without an entry, optional ones for other platforms included: npm 11 refuses such a lock file, npm 10, with which CI
// installs, does not.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { filesUnder, root } from "./workspace.mjs"

const isAddress = (resolved) => /^[a-z+]+:\/\//.test(resolved ?? "")

/** The entry that a package at a path finds under a name: its own, or that of a folder above it. */
const finds = (packages, path, name) => {
  for (let at = path;; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
    if (`${at === "" ? "" : `${at}/`}node_modules/${name}` in packages) return true
    if (at === "") return false
  }
}

/** What is wrong with the lock files below a folder. */
export const flaws = (at = root) =>
  filesUnder(at, ".", (name) => name === "package-lock.json" || name === "npm-shrinkwrap.json").flatMap((path) => {
    const { packages = {} } = JSON.parse(readFileSync(join(at, path), "utf8"))
    return Object.entries(packages).flatMap(([name, { dependencies, optionalDependencies, resolved }]) => [
      ...isAddress(resolved) ? [`${path}: ${name}: remove the address ${resolved}`] : [],
      ...Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((dependency) => !finds(packages, name, dependency))
        .map((dependency) => `${path}: ${name}: ${dependency} has no entry: npm 11 refuses such a lock file`)
    ])
  })

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const found = flaws()
  for (const line of found.slice(0, 20)) console.log(line)
  console.log(`${found.length} flaws in lock files`)
  if (found.length > 0) process.exitCode = 1
}
