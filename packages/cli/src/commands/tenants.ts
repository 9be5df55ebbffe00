import { Command, InvalidArgumentError, Option } from 'commander'
import { addClientOptions, addModuleOption } from '../client.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'
import { limit, list, remove, resume, set, setSlots, show, suspend, unlimit, unsetSlots } from './tenants-actions.ts'
import { parseCount } from './worker-options.ts'

const help = `
Tenants share the slots of a queue by their weights. A tenant is registered when it first has a job, or by \`set\`.

Examples:
  millrace tenants                               every tenant, and its share
  millrace tenants set acme --weight 3 --max-slots 10
  millrace tenants set-slots acme bulk --max-slots 1
  millrace tenants unset-slots acme bulk         back to the tenant's own slots
  millrace tenants limit acme bulk --jobs 1000 --over reject
  millrace tenants unlimit acme bulk             back to what the queue says
  millrace tenants suspend acme --reason "the invoice is open"
  millrace tenants resume acme
  millrace tenants delete acme --reason "left us" --yes
`

export function tenantsCommand(): Command {
  return new Command('tenants')
    .summary('look at tenants: weigh, limit, suspend, resume, delete them')
    .description('Look at tenants; weigh, limit, suspend, resume and delete them.')
    .addHelpText('after', help)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(
      addWatchOptions(addClientOptions(named('show', 'Show one tenant with its slots and limits.'))).action(show),
    )
    .addCommand(setCommand())
    .addCommand(setSlotsCommand())
    .addCommand(unsetSlotsCommand())
    .addCommand(limitCommand())
    .addCommand(unlimitCommand())
    .addCommand(suspendCommand())
    .addCommand(
      addClientOptions(addAuthorOption(named('resume', 'Let the jobs of a suspended tenant run again.'))).action(
        resume,
      ),
    )
    .addCommand(deleteCommand())
}

const named = (verb: string, description: string): Command =>
  new Command(verb).description(description).argument('<name>', 'the tenant')

function listCommand(): Command {
  const command = new Command('list')
    .description('List tenants by name.')
    .addOption(new Option('--status <status>', 'only these').choices(['active', 'suspended', 'deleted']))
    .addOption(new Option('--limit <count>', 'how many').argParser(parseCount(1)).default(100))
    .option('--behind <name>', 'only names after this one')
  return addWatchOptions(addClientOptions(command)).action(list)
}

function setCommand(): Command {
  const command = named('set', 'Register a tenant, or change its share of the slots.').addOption(
    new Option('--weight <weight>', 'its share, against others; from 1 to 1000').argParser(parseCount(1)),
  )
  return addClientOptions(addAuthorOption(addSlotsOptions(command))).action(set)
}

function setSlotsCommand(): Command {
  const command = named(
    'set-slots',
    "Set a tenant's slots in one queue, in place of those that `set` gave it.",
  ).argument('<queue>', 'the queue')
  return addModuleOption(addClientOptions(addAuthorOption(addSlotsOptions(command)))).action(setSlots)
}

function unsetSlotsCommand(): Command {
  const command = named('unset-slots', "Let the tenant's own slots hold in a queue again.").argument(
    '<queue>',
    'the queue',
  )
  return addClientOptions(addAuthorOption(command)).action(unsetSlots)
}

function addSlotsOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--min-slots <count>', 'slots it gets before others get more than theirs').argParser(parseCount(0)),
    )
    .addOption(
      new Option('--max-slots <count>', "slots of a queue it holds at most; 'none': as many as are free").argParser(
        parseMost,
      ),
    )
}

function limitCommand(): Command {
  const command = named('limit', 'Limit the jobs that a tenant may have waiting and running in a queue.')
    .argument('<queue>', 'the queue')
    .addOption(new Option('--jobs <count>', 'how many').argParser(parseCount(0)).makeOptionMandatory())
    .addOption(
      new Option('--over <what>', 'what becomes of more: a warning, a refusal, or they wait')
        .choices(['warn', 'reject', 'defer'])
        .default('warn'),
    )
  return addModuleOption(addClientOptions(addAuthorOption(command))).action(limit)
}

function unlimitCommand(): Command {
  const command = named(
    'unlimit',
    'Take back a limit that was set for a tenant: what the queue says holds again.',
  ).argument('<queue>', 'the queue')
  return addClientOptions(addAuthorOption(command)).action(unlimit)
}

function suspendCommand(): Command {
  const command = named(
    'suspend',
    'Hold the jobs of a tenant: running ones are stopped and wait again.',
  ).requiredOption('--reason <text>', 'why: whoever enqueues for it is told')
  return addClientOptions(addAuthorOption(command)).action(suspend)
}

function deleteCommand(): Command {
  const command = named('delete', 'Cancel all jobs of a tenant, and let it have no more.')
    .option('--reason <text>', 'stored with its jobs')
    .option('--yes', 'really: its jobs do not come back')
  return addClientOptions(addAuthorOption(command)).action(remove)
}

/** Not null: commander takes that for an option without a value. */
function parseMost(text: string): number | 'none' {
  if (text === 'none') return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError("Expected a whole number from 0, or 'none'.")
}
