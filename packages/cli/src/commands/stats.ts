import { Command, Option } from 'commander'
import type { Stats, TenantStats, TypeStats } from 'millrace'
import { addRemoteOptions, withClientOrApi } from '../client.ts'
import { duration, fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { pausedBy } from './pauses.ts'
import { printReport, type StatsOptions } from './stats-report.ts'
import { parseDuration } from './worker-options.ts'

const help = `
WAITING is all that does not run. Of those, DUE could run now, OLDEST since that time, and FAILED wait for another attempt. DEAD are dead
letters that wait for a decision. ENDED, P95 and WAIT P95 are of the last hour: jobs that ended, how long runs took, and how long
jobs were due before a worker took them. Of tenants, the fifty with most jobs are shown.

With --since it tells what became of runs from then on, by type or, with --by, step by step. FAILED counts runs that failed, died or
crashed; RATE is their share. LATENCY is from the time at which a job was due to the end of its first attempt. BORN and DECIDED are dead
letters. Minutes are kept for 30 days, hours for 13 months.

Examples:
  millrace stats
  millrace stats --json | jq '.types[] | select(.due > 1000)'
  millrace stats --since 24h
  millrace stats --since 30d --by day
  millrace stats --since 1h --by minute --queue mail
`

export function statsCommand(): Command {
  const command = new Command('stats')
    .summary('how queues, types and tenants stand, and what the last hours or days brought')
    .description('Count what waits, runs, failed and ended, by queue and type, and by queue and tenant.')
    .addOption(
      new Option('--since <duration>', 'what became of runs from then on, like 24h or 30d').argParser(parseDuration),
    )
    .addOption(new Option('--by <step>', 'with --since: step by step').choices(['minute', 'hour', 'day']))
    .option('--queue <queue>', 'with --since: only of this queue')
    .option('--type <type>', 'with --since: only of this job type')
  return addWatchOptions(addRemoteOptions(command)).addHelpText('after', help).action(act)
}

async function act(options: StatsOptions, command: Command): Promise<void> {
  const { since, by, queue, type } = options
  if (since === undefined && (by ?? queue ?? type) !== undefined)
    command.error('error: --by, --queue and --type need --since: how far back to look, like --since 24h.')
  await withClientOrApi(command, options, async ({ millrace }) => {
    if (since !== undefined) return printReport(millrace, { ...options, since })
    const stats = await millrace.stats()
    if (options.json) return printJson(stats)
    print(textOf(stats))
  })
}

function textOf({ types, tenants }: Stats): string {
  if (types.length === 0) return 'Nothing waits and nothing runs, and no worker has declared a queue.\n'
  const byType = table(TYPE_TITLES, types.map(typeCells))
  return tenants.length === 0 ? byType : `${byType}\n${table(TENANT_TITLES, tenants.map(tenantCells))}`
}

const TYPE_TITLES = [
  ...['QUEUE', 'TYPE', 'WAITING', 'DUE', 'OLDEST', 'RUNNING', 'FAILED', 'DEAD', 'ENDED', 'P95', 'WAIT P95', 'PAUSED'],
]

function typeCells(row: TypeStats): string[] {
  const { queue, type, waiting, due, oldestDueAt, running, failed, dead, lastHour, pauses } = row
  return [
    oneLine(queue, 40),
    oneLine(type, 40),
    ...[waiting, due].map(String),
    fromNow(oldestDueAt),
    ...[running, failed, dead, lastHour.finished].map(String),
    ...[lastHour.durationP95Ms, lastHour.waitP95Ms].map(duration),
    pausedBy(pauses),
  ]
}

const TENANT_TITLES = ['QUEUE', 'TENANT', 'WAITING', 'OLDEST DUE', 'RUNNING', 'WAIT P95', 'PAUSED']

function tenantCells({ queue, tenant, waiting, oldestDueAt, running, waitP95Ms, pauses }: TenantStats): string[] {
  const names = [oneLine(queue, 40), oneLine(tenant, 40)]
  return [...names, String(waiting), fromNow(oldestDueAt), String(running), duration(waitP95Ms), pausedBy(pauses)]
}
