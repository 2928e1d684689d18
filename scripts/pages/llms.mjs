// What machines read: llms.txt has the programs of the README, and the entrance of the documentation, which says where the guides are;
// llms-full.txt has all guides, in the order of the entrance. Their links are addresses, because such a text is read far from the folder
// that it is about.
import { addressOf, isAddress, linksOf, pathOf, proseOf, site, withTargets } from "./links.mjs"

/** The guides in the order of the entrance, each once. */
export const guidesOf = (entrance, read) => {
  const targets = proseOf(entrance).flatMap(({ text }) => linksOf(text).map(({ target }) => target))
  const paths = targets.filter((target) => !isAddress(target)).map((target) => pathOf("docs/README.md", target))
  return [...new Set(paths)]
    .filter((path) => /^docs\/(?!decisions\/|README\.md).*(?<!\/(methods|performance))\.md$/.test(path))
    .map((path) => ({ path, text: read(path) }))
}

/** A page whose links are addresses; `isPage` tells the pages of the site from the other files of the repository. */
const absolute = (page, text, isPage) => withTargets(text, (target) => addressOf(page, target, isPage)).trim()

export const llmsOf = (readme, entrance, isPage) => {
  const [top, ...sections] = absolute("README.md", readme, isPage).split(/^(?=## )/m)
  const programs = sections.filter((one) => /^```/m.test(one))
  return [
    top,
    "Import each module by its subpath, `import * as Tool from \"@effect-mcp/core/Tool\"`. `Schema`, `Effect` and `Layer` come from " +
    `\`effect\` 3.22. All guides in one file: [llms-full.txt](${site}llms-full.txt).`,
    ...programs,
    ...absolute("docs/README.md", entrance, isPage).split(/^(?=## )/m).slice(1)
  ].map((one) => one.trim()).join("\n\n") + "\n"
}

/** Headings are one level deeper. */
export const llmsFullOf = (guides, isPage) =>
  [
    "# Effect MCP: all guides",
    ...guides.map(({ path, text }) => {
      const all = absolute(path, text, isPage)
      const lines = all.split("\n")
      for (const { line, text } of proseOf(all)) if (text.startsWith("#")) lines[line - 1] = `#${text}`
      return lines.join("\n")
    })
  ].join("\n\n") + "\n"
