import { Command, Option } from 'commander'
import type { LimitOptions, LimitState, LimitUse } from 'millrace'
import { addClientOptions, addModuleOption, type ClientOptions, withClient } from '../client.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'
import { parseCount } from './worker-options.ts'

const help = `
A limit says how many jobs run at once, or are started in a stretch of time, in all processes together. What is set here
stands above what the code says. Besides the limits that workers declare: queue:bulk and type:email, and with /tenant
behind them, for each tenant.

Examples:
  millrace limits                                what is used, and how many more could start
  millrace limits set openai --running 5
  millrace limits set queue:bulk --rate 50/minute
  millrace limits set type:email/tenant --running 2
  millrace limits unset openai                   back to what the code says
`

interface SetOptions extends ClientOptions {
  readonly by: string
  readonly running?: number
  readonly rate?: string
}

export function limitsCommand(): Command {
  return new Command('limits')
    .summary('see what limits allow, and set them')
    .description('See what limits allow and what is used of them, and set them.')
    .addHelpText('after', help)
    .addCommand(
      addWatchOptions(withOptions(new Command('list').description('Every limit, and what is used of it.'))).action(
        list,
      ),
      {
        isDefault: true,
      },
    )
    .addCommand(setCommand())
    .addCommand(unsetCommand())
}

const withOptions = (command: Command): Command => addModuleOption(addClientOptions(command))

function setCommand(): Command {
  const command = new Command('set')
    .description('Set a limit. It holds with the next claim of every worker.')
    .argument('<name>', 'its name, or queue:… or type:…')
    .addOption(new Option('--running <count>', 'how many run at once; 0: none').argParser(parseCount(0)))
    .option('--rate <rate>', 'how many are started, such as 50/minute; per second, minute, hour or day')
  return withOptions(addAuthorOption(command)).action(set)
}

function unsetCommand(): Command {
  const command = new Command('unset')
    .description('Take back what was set: what the code says holds again.')
    .argument('<name>', 'the name of the limit')
  return addClientOptions(addAuthorOption(command)).action(unset)
}

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const limits = await millrace.limits.list()
    if (options.json) return printJson(limits)
    const rows = limits.flatMap(rowsOf)
    if (rows.length > 0) print(table(['LIMIT', 'TENANT', 'RUNNING', 'RATE', 'FREE', 'HELD UNTIL', 'SET BY'], rows))
    else print('There is no limit.\n')
  })
}

async function set(name: string, options: SetOptions, command: Command): Promise<void> {
  const { running, rate, by } = options
  await withClient(command, options, async ({ millrace }) => {
    const limit = { ...(running !== undefined && { running }), ...(rate !== undefined && { rate }) }
    await millrace.limits.set(name, limit as Pick<LimitOptions, 'running' | 'rate'>, { by })
    const state = await millrace.limits.get(name)
    if (options.json) return printJson(state ?? null)
    if (state !== undefined) print(`Limit ${oneLine(name, 80)}: ${allowance(state)}.\n`)
  })
}

async function unset(name: string, options: SetOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const wasSet = await millrace.limits.unset(name, { by: options.by })
    if (!wasSet) process.exitCode = 1
    if (options.json) return printJson({ name, wasSet })
    const said = wasSet ? 'is as the code says again' : 'was not set here: `millrace limits` lists what is'
    print(`Limit ${oneLine(name, 80)} ${said}.\n`)
  })
}

function rowsOf(state: LimitState): string[][] {
  const uses: readonly LimitUse[] =
    state.uses.length > 0 ? state.uses : [{ tenant: null, running: 0, free: state.running, heldUntil: null }]
  return uses.map((use) => [
    oneLine(state.name, 60),
    state.isPerTenant ? oneLine(use.tenant ?? '(each)', 40) : '',
    state.running === undefined ? String(use.running) : `${use.running} of ${state.running}`,
    rateText(state),
    use.free === undefined ? '' : String(use.free),
    fromNow(use.heldUntil),
    oneLine(state.setBy, 40),
  ])
}

/** "at most 5 at once, 50 per 60 s". */
function allowance(state: LimitState): string {
  const parts = [
    state.running === undefined ? '' : `at most ${state.running} at once`,
    state.rate === undefined ? '' : `${rateText(state)}`,
  ]
  return `${parts.filter(Boolean).join(', ')}${state.isPerTenant ? ', for each tenant' : ''}`
}

const PERIODS = new Map([
  [1_000, 'second'],
  [60_000, 'minute'],
  [3_600_000, 'hour'],
  [86_400_000, 'day'],
])

function rateText({ rate }: LimitState): string {
  return rate === undefined ? '' : `${rate.jobs} per ${PERIODS.get(rate.perMs) ?? `${rate.perMs / 1_000} s`}`
}
