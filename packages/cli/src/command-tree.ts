// What holds for every command, however deep: a misspelt subcommand is named, the database may be given before the command,
// and the help marks required options.
import { type Command, Help, Option } from 'commander'

const DATABASE_URL = 'databaseUrl'

/** `root` with all its commands. */
export function completeTree(root: Command): Command {
  for (const command of allOf(root)) {
    command.configureHelp({ ...command.configureHelp(), optionDescription })
    if (command.commands.length === 0) continue
    command.addOption(new Option('--database-url <url>', 'the database, for the command that follows'))
    command.hook('preSubcommand', refuseMisspelt)
  }
  return root.hook('preAction', (_, command) => handDatabaseUrlDown(command))
}

function* allOf(command: Command): Generator<Command> {
  yield command
  for (const each of command.commands) yield* allOf(each)
}

/** Commander's own, which does not say that an option is required. */
function optionDescription(this: Help, option: Option): string {
  const text = Help.prototype.optionDescription.call(this, option)
  return option.mandatory ? `${text} (required)` : text
}

/** A group's default command would take a misspelt subcommand for an argument, and count arguments that the user did not give. */
function refuseMisspelt(group: Command, subcommand: Command): void {
  const [given] = group.args
  if (given === undefined || given.startsWith('-') || subcommand.registeredArguments.length > 0) return
  if (given === subcommand.name() || subcommand.aliases().includes(given)) return
  // Commander's own answer, with its suggestion; its types leave the method out.
  const answering = group as Command & { unknownCommand(): never }
  answering.unknownCommand()
}

/** The one that stands nearest to the command counts; the environment comes last. */
function handDatabaseUrlDown(command: Command): void {
  if (command.getOptionValueSource(DATABASE_URL) === 'cli') return
  for (let above = command.parent; above !== null; above = above.parent) {
    const url: unknown = above.getOptionValue(DATABASE_URL)
    if (url === undefined) continue
    command.setOptionValueWithSource(DATABASE_URL, url, 'cli')
    return
  }
}
