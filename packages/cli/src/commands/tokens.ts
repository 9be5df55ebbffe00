import { Command, InvalidArgumentError, Option } from 'commander'
import type { AdminRole, AdminToken, Duration } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addAuthorOption } from './retry.ts'
import { parseDuration } from './worker-options.ts'

const help = `
A token lets a program or a person call the admin API. Its secret is printed once; the database has only a hash of it.

Roles:
  viewer     looks; sees no payloads, results and log lines
  operator   also changes: retries, cancels, pauses, redrives, sets limits
  admin      also prunes, deletes tenants and makes tokens

Examples:
  millrace tokens create ann --role operator --expires 90d
  millrace tokens create acme-portal --role viewer --tenant acme
  millrace tokens                                        all of them, and when each was last used
  millrace tokens revoke ann
`

interface Creation extends ClientOptions {
  readonly by: string
  readonly role: AdminRole
  readonly tenant?: readonly string[]
  readonly expires?: Duration
}

export function tokensCommand(): Command {
  return new Command('tokens')
    .summary('make, list and revoke tokens of the admin API')
    .description('Make, list and revoke tokens of the admin API.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(createCommand())
    .addCommand(revokeCommand())
}

function listCommand(): Command {
  const command = new Command('list').description(
    'List the tokens, newest first; revoked and expired ones for 30 days.',
  )
  return addClientOptions(command).action(list)
}

function createCommand(): Command {
  const command = new Command('create')
    .description('Make a token and print its secret, once.')
    .argument('<name>', 'whose it is: changes carry this name in the audit log')
    .addOption(new Option('--role <role>', 'what it may do').choices(['viewer', 'operator', 'admin']).default('viewer'))
    .option('--tenant <name>', 'only for this tenant; may be given several times', collect)
    .option('--expires <duration>', 'valid for so long, like 90d; default: until it is revoked', parseDuration)
  return addClientOptions(addAuthorOption(command)).action(create)
}

function revokeCommand(): Command {
  const command = new Command('revoke')
    .description('Revoke a token and end the sessions that it opened.')
    .argument('<name>', 'its name')
  return addClientOptions(addAuthorOption(command)).action(revoke)
}

function collect(name: string, others: readonly string[] = []): string[] {
  if (name === '') throw new InvalidArgumentError('Expected the name of a tenant.')
  return [...others, name]
}

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, { ...options, module: null }, async ({ millrace }) => {
    const tokens = await millrace.tokens.list()
    if (options.json) return printJson(tokens)
    if (tokens.length === 0)
      return print('There are no tokens. Make one: millrace tokens create NAME --role operator\n')
    print(table(['NAME', 'ROLE', 'TENANTS', 'STATE', 'LAST USED', 'CREATED', 'BY'], tokens.map(cells)))
  })
}

async function create(name: string, options: Creation, command: Command): Promise<void> {
  await withClient(command, { ...options, module: null }, async ({ millrace }) => {
    const { role, tenant: tenants, expires, by } = options
    const created = await millrace.tokens.create({
      ...{ name, role, by },
      ...(tenants && { tenants }),
      ...(expires !== undefined && { expiresIn: expires }),
    })
    if (options.json) return printJson(created)
    print(`${created.secret}\n`)
    // The secret alone on stdout can be piped.
    process.stderr.write(
      `The token "${oneLine(name, 100)}" is shown once: keep it. Send it as \`Authorization: Bearer …\`.\n`,
    )
  })
}

async function revoke(name: string, options: ClientOptions & { by: string }, command: Command): Promise<void> {
  await withClient(command, { ...options, module: null }, async ({ millrace }) => {
    const isRevoked = await millrace.tokens.revoke(name, { by: options.by })
    if (!isRevoked) throw new Refused(`No token "${name}" is in force. \`millrace tokens\` lists them.`)
    if (options.json) return printJson({ name, revoked: true })
    print(`The token "${name}" is revoked: it is refused from now on.\n`)
  })
}

function cells({ name, role, tenants, createdAt, createdBy, lastUsedAt, ...token }: AdminToken): string[] {
  return [
    oneLine(name, 40),
    role,
    oneLine(tenants?.join(', ') ?? 'all', 40),
    stateOf(token),
    lastUsedAt === null ? 'never' : fromNow(lastUsedAt),
    fromNow(createdAt),
    oneLine(createdBy, 30),
  ]
}

function stateOf({ revokedAt, expiresAt }: Pick<AdminToken, 'revokedAt' | 'expiresAt'>): string {
  if (revokedAt !== null) return `revoked ${fromNow(revokedAt)}`
  if (expiresAt === null) return 'valid'
  return expiresAt.getTime() < Date.now() ? `expired ${fromNow(expiresAt)}` : `expires ${fromNow(expiresAt)}`
}
