// llms.txt: what a machine needs to write programs with this library: the programs of the README, all recipes, and where the guides are. And
// docs/all.md: all guides in one file, in the order in which docs/README.md names them.

/** The pages that a page links to, in order, each once. */
const linksOf = (text) => [...new Set([...text.matchAll(/\]\(((?!https?:)[^)#]+\.md)/g)].map(([, path]) => path))]

const titleOf = (text) => /^# (.*)$/m.exec(text)?.[1] ?? ""

/** The first paragraph below the title that is a sentence. */
const summaryOf = (text) =>
  text.split("\n\n").map((one) => one.replace(/\s+/g, " ").trim())
    .find((one) => /^[A-Z`*[]/.test(one) && !/^(#|\*\*Path|Previous|\[)/.test(one)) ?? ""

const section = (text, title) => text.split(/^(?=## )/m).find((one) => one.startsWith(`## ${title}\n`))?.trim() ?? ""

/** The path of a link from one page, from the root. */
const resolve = (from, link) => {
  const parts = from.split("/").slice(0, -1)
  for (const one of link.split("/")) {
    if (one === "..") parts.pop()
    else if (one !== ".") parts.push(one)
  }
  return parts.join("/")
}

/** The guides in the order of the entrance. */
export const guidesOf = (entrance, read) =>
  linksOf(entrance).map((link) => resolve("docs/README.md", link))
    .filter((path) =>
      path.startsWith("docs/") && !/^docs\/(api|decisions)\//.test(path) &&
      !/docs\/(all|messages|deviations|methods|changelog|performance)\.md$/.test(path)
    )
    .map((path) => ({ path, text: read(path) }))

export const llmsOf = (readme, recipes, guides) =>
  [
    readme.split(/^## /m)[0].trim(),
    "Import each module by its subpath, `import * as Tool from \"@effect-mcp/definition/Tool\"`. `Schema`, `Effect` and `Layer` come from " +
    "`effect` 3.22. Options and limits are in docs/options.md; every text of an error is in docs/messages.md.",
    ...["Install", "A server", "A client", "A test"].map((title) => section(readme, title)),
    recipes.replace(/^#/gm, "##").trim(),
    "## Guides",
    guides.map(({ path, text }) => `- [${titleOf(text)}](${path}): ${summaryOf(text)}`).join("\n")
  ].filter((one) => one !== "").join("\n\n") + "\n"

/** All guides; headings are one level deeper, and links lead from the folder docs. */
export const allOf = (guides) =>
  [
    "# All guides in one file",
    ...guides.map(({ path, text }) => {
      let fenced = false
      return text.trim().split("\n").map((line) => {
        if (/^\s*(```|~~~)/.test(line)) fenced = !fenced
        if (fenced) return line
        const deeper = line.startsWith("#") ? `#${line}` : line
        return deeper.replace(/\]\(((?!https?:|#)[^)]+)\)/g, (_, link) => `](${fromDocs(resolve(path, link))})`)
          .replace(/\]\(#/g, `](${fromDocs(path)}#`)
      }).join("\n")
    })
  ].join("\n\n") + "\n"

const fromDocs = (path) => path.startsWith("docs/") ? path.slice("docs/".length) : `../${path}`
