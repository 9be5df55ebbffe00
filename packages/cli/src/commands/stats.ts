import { Command } from 'commander'
import type { Stats, TenantStats, TypeStats } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { pausedBy } from './pauses.ts'

const help = `
WAITING is all that does not run. Of those, DUE could run now, OLDEST since that time, and FAILED wait for another attempt. DEAD are dead
letters that wait for a decision. ENDED, P95 and WAIT P95 are of the last hour: jobs that ended, how long runs took, and how long
jobs were due before a worker took them. Of tenants, the fifty with most jobs are shown.

Examples:
  millrace stats
  millrace stats --json | jq '.types[] | select(.due > 1000)'
`

export function statsCommand(): Command {
  const command = new Command('stats')
    .summary('how queues, types and tenants stand, and what the last hour brought')
    .description('Count what waits, runs, failed and ended, by queue and type, and by queue and tenant.')
  return addClientOptions(command).addHelpText('after', help).action(act)
}

async function act(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
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

/** "12 ms", "3.4 s", "2 min". */
function duration(ms: number | null): string {
  if (ms === null) return ''
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}
