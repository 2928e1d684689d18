/**
 * The script that completes commands and options in bash, which `Cli` prints. `@effect/cli` makes this script, and prints the scripts for
 * zsh and fish itself. Its script for bash has mistakes, which this module corrects: it loses the command where the name of the program has
 * a hyphen, and where the command stands below another command; it offers all choices of an option as one word, and nothing after an option
 * without a value. When test/Completions passes on the script of `@effect/cli`, this module can be deleted.
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"

const NAME = "effect-mcp"

/** The words after `--` are the command line of a server: bash completes these words as it does by default. */
const OF_SERVER = `    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ \${COMP_WORDS[i]} == "--" ]]; then
            return 0
        fi
    done
`

const mended = (script: string): string =>
  script
    .replaceAll(/^( *(?:cmd=")?)effect-mcp(?=[")])/gm, "$1effect__mcp")
    .replaceAll(/^( *effect__mcp),(\w+),(\w+)\)/gm, "$1__$2,$3)")
    .replaceAll(/(?<=compgen -W ")[^"$]+/g, (choices) => choices.replaceAll(",", " "))
    .replaceAll(/^ *-[^ ]*\)\n *COMPREPLY=\( "\$\{cur\}" \)\n *return 0\n *;;\n/gm, "")
    .replaceAll(/(?<=opts="[^"]*) --completions --log-level --help --wizard --version/g, " --help")
    .replace(/(?<=^ *cmd=""\n)/m, OF_SERVER)

/** Returns the script for bash. */
export const bash = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): Effect.Effect<string> =>
  Effect.map(Command.getBashCompletions(command, NAME), (lines) => mended(lines.join("\n")))
