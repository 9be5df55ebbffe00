// Whether a command works on the database or on a remote admin API.
import { type Command, Option } from 'commander'
import { Refused } from '../failure.ts'

export const ADMIN_URL_VARIABLE = 'MILLRACE_ADMIN_URL'
export const ADMIN_TOKEN_VARIABLE = 'MILLRACE_ADMIN_TOKEN'

export const adminUrlOption = (): Option =>
  new Option('--admin-url <url>', `an admin API instead of the database; its token is in ${ADMIN_TOKEN_VARIABLE}`).env(
    ADMIN_URL_VARIABLE,
  )

/** Undefined: the database. What stands in the command line counts more than the environment. */
export function adminUrlOf(command: Command): string | undefined {
  const url: string | undefined = command.getOptionValue('adminUrl')
  // An empty variable counts as none. An empty option does not: the database would not be what was asked for.
  return isGiven(command, 'adminUrl') || (url && !isGiven(command, 'databaseUrl')) ? url : undefined
}

/** Otherwise `jobs` would show the jobs of one system, and `cancel` would cancel those of another. */
export function demandDatabase(command: Command): void {
  if (!process.env[ADMIN_URL_VARIABLE] || isGiven(command, 'databaseUrl')) return
  throw new Refused(
    `${needsDatabase(command)} ${ADMIN_URL_VARIABLE} is set, so DATABASE_URL does not count: pass --database-url, or unset ${ADMIN_URL_VARIABLE}.`,
  )
}

/** "`millrace tenants list` needs the database." */
export function needsDatabase(command: Command): string {
  const names = []
  for (let each: Command | null = command; each !== null; each = each.parent) names.unshift(each.name())
  return `\`${names.join(' ')}\` needs the database: it does not work through an admin API.`
}

const CONTRACTS = 'the server checks payloads by its own contracts'
const AUTHOR = 'the server writes down the name of the token'
const REASONS = new Map([
  ['--module <module>', CONTRACTS],
  ['--by <name>', AUTHOR],
  ['--created-by <name>', AUTHOR],
])

/** Options that a server would not heed. */
export function refuseLocalOptions(command: Command): void {
  for (const option of command.options) {
    const reason = REASONS.get(option.flags)
    if (reason === undefined || !isGiven(command, option.attributeName())) continue
    throw new Refused(`${option.long} needs the database: ${reason}. Leave it out, or pass --database-url instead.`)
  }
}

export const isGiven = (command: Command, option: string): boolean => command.getOptionValueSource(option) === 'cli'
