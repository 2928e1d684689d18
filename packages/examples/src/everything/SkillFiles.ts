/**
 * A skill that is defined in code, with files in directories. Its name sorts before the names of other skills: the official conformance
 * suite looks at the first skill, and finds a directory in it.
 */
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"

const PdfProcessing = SkillsServer.make("pdf-processing", {
  description: "Extract, fill and assemble PDF documents. Use it when the user gives a PDF.",
  frontmatter: { license: "MIT", metadata: { version: "1.0.0" } },
  instructions: "# PDF documents\n\nHow to fill forms is in [FORMS.md](references/FORMS.md).\n",
  files: {
    "references/FORMS.md": "# Forms\n\nRead the names of the fields first.\n",
    "templates/invoice.md": "Order, amount, date\n"
  }
})

export const layer = SkillsServer.layer(PdfProcessing, { pageSize: 1 })
