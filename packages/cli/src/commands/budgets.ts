import { Command, InvalidArgumentError, Option } from 'commander'
import type { BudgetStatus } from 'millrace'
import { addClientOptions, addModuleOption, type ClientOptions, withClient } from '../client.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { addAuthorOption } from './retry.ts'

const help = `
A budget is a ceiling for what jobs spend per month or day. NORMAL below 75 %, REDUCE from there; from 90 % (QUEUE) its
jobs wait for the next full hour, at 100 % (HARD_STOP) they end at once.

A budget that is kept in a table of the workload's own is shown as a worker has last read it, and READ says when. With the
workload (--module) it is read now.

Examples:
  millrace budgets                                       where each of them stands
  millrace budgets show ai-tagging --period 2026-10
  millrace budgets usage ai-tagging                      who spent it
  millrace budgets set ai-tagging --limit 75000          from now on
  millrace budgets set ai-tagging --limit 75000 --period current
  millrace budgets set ai-tagging --limit code           back to what the code says
`

interface PeriodOptions extends ClientOptions {
  readonly period?: string
}

interface SetOptions extends PeriodOptions {
  readonly limit: number | 'code'
  readonly by: string
}

export function budgetsCommand(): Command {
  return new Command('budgets')
    .summary('see what jobs have spent, and set limits')
    .description('See what jobs have spent of their budgets, and set limits.')
    .addHelpText('after', help)
    .addCommand(
      addWatchOptions(withOptions(new Command('list').description('Where each budget stands.'))).action(list),
      {
        isDefault: true,
      },
    )
    .addCommand(withPeriod(named('show', 'Show one budget.')).action(show))
    .addCommand(withPeriod(named('usage', 'What was spent, by job type and user.')).action(usage))
    .addCommand(setCommand())
}

const withOptions = (command: Command): Command => addModuleOption(addClientOptions(command))

const named = (verb: string, description: string): Command =>
  new Command(verb).description(description).argument('<name>', 'the name of the budget')

const withPeriod = (command: Command): Command =>
  withOptions(command.option('--period <period>', 'such as 2026-11 or 2026-11-15; default: the current one'))

function setCommand(): Command {
  const command = named('set', 'Set another limit. It counts at once, and is written into the audit log.')
    .addOption(
      new Option('--limit <amount>', "in the budget's unit; 'code': what the code says")
        .argParser(parseAmount)
        .makeOptionMandatory(),
    )
    .option('--period <period>', "only for this one; 'current': for the one that is running. Default: from now on")
  return withOptions(addAuthorOption(command)).action(set)
}

function parseAmount(text: string): number | 'code' {
  if (text === 'code') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError("Expected a whole number of the budget's unit, such as 75000, or 'code'.")
}

async function list(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const budgets = await millrace.budgets.list()
    if (options.json) return printJson(budgets)
    const rows = budgets.map((each) => [
      oneLine(each.budget, 40),
      each.level,
      `${each.used} of ${each.limit} ${oneLine(each.unit, 20)}`,
      `${each.percent} %`,
      each.period,
      fromNow(each.endsAt),
      LIMIT_FROM[each.limitFrom],
      readOf(each),
    ])
    if (rows.length > 0) print(table(['BUDGET', 'LEVEL', 'USED', '', 'PERIOD', 'ENDS', 'LIMIT', 'READ'], rows))
    else print('There is no budget.\n')
  })
}

const LIMIT_FROM = {
  code: '',
  setting: 'set',
  period: 'set for this period',
  source: "of the workload's table",
} as const

/** When the table of a workload was read, if the budget is kept in one. */
function readOf({ source }: BudgetStatus): string {
  if (source === null) return ''
  return source.readAt === null ? 'not in this period' : fromNow(source.readAt)
}

const periodOf = ({ period }: PeriodOptions) => (period === undefined ? {} : { period })

async function show(name: string, options: PeriodOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const status = await millrace.budgets.get(name, periodOf(options))
    if (options.json) return printJson(status)
    print(block(status))
  })
}

function block(status: BudgetStatus): string {
  const { unit } = status
  const zone = status.timeZone === 'UTC' ? '' : `, ${status.timeZone}`
  const from = status.limitFrom === 'code' ? 'by the code' : LIMIT_FROM[status.limitFrom]
  const lines = [
    ['Budget', status.budget],
    ['Period', `${status.period}, per ${status.per}${zone}, until ${status.endsAt.toISOString()}`],
    ['Level', `${status.level}, ${status.percent} %`],
    ['Spent', `${status.spent} ${unit}`],
    ['Reserved', `${status.reserved} ${unit}`],
    ['Limit', `${status.limit} ${unit}, ${from}`],
    ['Remaining', `${status.remaining} ${unit}`],
    ['Read', readOf(status)],
  ] as const
  return lines
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `${label.padEnd(9)}  ${oneLine(value, 200)}\n`)
    .join('')
}

async function usage(name: string, options: PeriodOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const { period, unit } = await millrace.budgets.get(name, periodOf(options))
    const rows = await millrace.budgets.usage(name, { period })
    if (options.json) return printJson({ budget: name, period, unit, usage: rows })
    if (rows.length === 0) return print(`Nothing was spent of ${oneLine(name, 40)} in ${period}.\n`)
    const cells = rows.map((row) => [
      oneLine(row.type, 40),
      oneLine(row.createdBy, 40),
      `${row.amount} ${oneLine(unit, 20)}`,
      String(row.calls),
      fromNow(row.updatedAt),
    ])
    print(table(['TYPE', 'FOR', 'SPENT', 'CALLS', 'LAST'], cells))
  })
}

async function set(name: string, options: SetOptions, command: Command): Promise<void> {
  const limit = options.limit === 'code' ? null : options.limit
  await withClient(command, options, async ({ millrace }) => {
    const status = await millrace.budgets.adjust(name, { limit, by: options.by, ...periodOf(options) })
    if (options.json) return printJson(status)
    print(block(status))
  })
}
