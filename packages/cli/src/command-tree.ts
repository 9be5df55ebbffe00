// What holds for every command, however deep: a misspelt subcommand is named, the database or admin API may be given before the command,
// and the help marks required options.
import { type Command, Help, Option } from 'commander'
import { isGiven, needsDatabase } from './remote/target.ts'

const DATABASE_URL = 'databaseUrl'
const ADMIN_URL = 'adminUrl'

/** `root` with all its commands. */
export function completeTree(root: Command): Command {
  for (const command of allOf(root)) {
    command.configureHelp({ ...command.configureHelp(), optionDescription })
    if (command.commands.length === 0) {
      if (!takesAdminUrl(command)) command.addOption(new Option('--admin-url <url>').hideHelp())
      continue
    }
    command.addOption(new Option('--database-url <url>', 'the database, for the command that follows'))
    const adminUrl = new Option('--admin-url <url>', 'an admin API instead, for the command that follows')
    command.addOption(adminUrl.hideHelp(![...allOf(command)].some(takesAdminUrl)))
    command.hook('preSubcommand', refuseMisspelt)
  }
  return root.hook('preAction', (_, command) => {
    handDown(command, DATABASE_URL)
    handDown(command, ADMIN_URL)
    refuseAdminUrl(command)
  })
}

const adminUrlOptionOf = (command: Command): Option | undefined =>
  command.options.find((option) => option.attributeName() === ADMIN_URL)

const takesAdminUrl = (command: Command): boolean => adminUrlOptionOf(command)?.hidden === false

/** All commands know the option, so that those that need the database can say so. */
function refuseAdminUrl(command: Command): void {
  if (!isGiven(command, ADMIN_URL)) return
  if (!takesAdminUrl(command)) command.error(`error: ${needsDatabase(command)} Pass --database-url instead.`)
  if (isGiven(command, DATABASE_URL))
    command.error('error: Give either --database-url or --admin-url: a command works on one of them.')
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
function handDown(command: Command, option: typeof DATABASE_URL | typeof ADMIN_URL): void {
  if (isGiven(command, option)) return
  for (let above = command.parent; above !== null; above = above.parent) {
    const url: unknown = above.getOptionValue(option)
    if (url === undefined) continue
    command.setOptionValueWithSource(option, url, 'cli')
    return
  }
}
