/**
 * Makes the script that completes commands and options in bash; `Cli` prints the script. `@effect/cli` also has a bash script, and this
 * module corrects the mistakes of that script. The script of `@effect/cli` does not find the command when the name of the program has a
 * hyphen, or when the command is below another command. It offers all choices of an option as one word, and offers nothing after an option
 * without a value. When test/Completions passes with the script of `@effect/cli`, this module can be deleted.
 *
 * `@effect/cli` itself prints the scripts for zsh and fish.
 */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"

const NAME = "effect-mcp"

/** Lets bash complete the words after `--` as it does by default, because these words are the command line of a server. */
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

/** Makes the script for bash. */
export const bash = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): Effect.Effect<string> =>
  Effect.map(Command.getBashCompletions(command, NAME), (lines) => mended(lines.join("\n")))
