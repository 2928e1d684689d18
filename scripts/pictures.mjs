// Draws the pictures of docs/pictures: what the packages and the areas of core need of each other, from the manifests and the projects of
// the compiler, and the life of a session in both eras. `--check` writes nothing, and fails when a picture is stale.
import { instance } from "@viz-js/viz"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { areas, readJson, readWorkspace, root, scope } from "./workspace.mjs"

const quoted = (text) => JSON.stringify(text)

const graph = (name, body) =>
  `digraph ${quoted(name)} {
  graph [fontname="Helvetica", fontsize=13, bgcolor="white", pad=0.2, ranksep=0.45, nodesep=0.25]
  node [fontname="Helvetica", fontsize=12, shape=box, style="rounded,filled", fillcolor="#f4f6fb", color="#5b6b8c", margin="0.15,0.07"]
  edge [fontname="Helvetica", fontsize=10, color="#5b6b8c", arrowsize=0.7]
${body}
}`

/** What each name needs directly, and nothing else that it needs needs for it. `needs`: names by name. */
const needsGraph = (title, needs) => {
  const reaches = (from, to) => needs.get(from).some((next) => next === to || reaches(next, to))
  const edges = [...needs].flatMap(([name, all]) =>
    all.filter((one) => !all.some((other) => other !== one && reaches(other, one)))
      .map((one) => `  ${quoted(name)} -> ${quoted(one)}`)
  )
  return graph(title, [...[...needs.keys()].sort().map((name) => `  ${quoted(name)}`), ...edges.sort()].join("\n"))
}

/** The packages, each with what it needs of the others. */
export const packagesGraph = (packages) => {
  const names = new Set(packages.map(({ name }) => name))
  const needsOf = ({ manifest }) =>
    Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      .map((dependency) => dependency.replace(scope, "")).filter((one) => names.has(one))
  return needsGraph("packages", new Map(packages.map((pkg) => [pkg.name, needsOf(pkg)])))
}

/** The areas of a package, from the references that the compiler lets an area import. */
const areasGraph = (name) =>
  needsGraph(
    name,
    new Map(areas[name].map((area) => {
      const { references = [] } = readJson(join(root, "packages", name, `tsconfig.${area}.json`))
      return [area, references.map(({ path }) => path.replace(/^tsconfig\.|\.json$/g, ""))]
    }))
  )

const LIFE = `
  subgraph cluster_legacy {
    label="2024-11-05 to 2025-11-25: a session begins with a handshake"; color="#b8c2d9"
    l0 [label="the connection is open"]
    l1 [label="the session is open\\nits layer is built"]
    l2 [label="no stream is open\\nthe server keeps events"]
    l3 [label="another node has\\nclaimed the session"]
    l4 [label="the session is over\\nits layer is closed", fillcolor="#e9ecf2"]
    l0 -> l1 [label="initialize"]
    l1 -> l1 [label="requests, notifications"]
    l1 -> l2 [label="the stream is cut"]
    l2 -> l1 [label="Last-Event-ID"]
    l1 -> l3 [label="the node ends"]
    l3 -> l1 [label="the next request"]
    l1 -> l4 [label="DELETE, or the pipe ends"]
    l2 -> l4 [label="idle for 30 minutes"]
  }
  subgraph cluster_modern {
    label="2026-07-28: each request says all that the server needs"; color="#b8c2d9"
    m0 [label="the connection is open"]
    m1 [label="a request runs\\nits layer: of the pipe,\\nor of the request"]
    m2 [label="input_required\\nthe client asks its user"]
    m3 [label="a task runs in the server"]
    m4 [label="subscriptions/listen\\nstays open"]
    m5 [label="the request is answered", fillcolor="#e9ecf2"]
    m0 -> m1 [label="tools/call"]
    m0 -> m4 [label="listen"]
    m1 -> m2 [label="the handler asks"]
    m2 -> m1 [label="again, with the answers"]
    m1 -> m3 [label="startTask"]
    m3 -> m5 [label="tasks/get"]
    m1 -> m5 [label="the result"]
    m4 -> m4 [label="changes; when it is cut,\nthe client opens it again"]
  }`

/** The pictures by the paths of their files, as SVG. */
export const picturesOf = async (packages) => {
  const viz = await instance()
  const draw = (dot) => `${viz.renderString(dot, { format: "svg" }).replace(/^[\s\S]*?(?=<svg)/, "").trim()}\n`
  return new Map([
    ["docs/pictures/areas.svg", draw(areasGraph("core"))],
    ["docs/pictures/packages.svg", draw(packagesGraph(packages))],
    ["docs/pictures/session.svg", draw(graph("session", LIFE))]
  ])
}

const main = async (isCheck) => {
  const pictures = await picturesOf(readWorkspace().packages.filter(({ library }) => library))
  const stale = [...pictures].filter(([path, svg]) =>
    !existsSync(join(root, path)) || readFileSync(join(root, path), "utf8") !== svg
  )
  for (const [path, svg] of stale) {
    if (!isCheck) writeFileSync(join(root, path), svg)
    console.log(isCheck ? `${path}: stale: run node scripts/pictures.mjs` : `${path} is written`)
  }
  if (isCheck && stale.length > 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.includes("--check"))
