import { Command } from 'commander'
import type { CatalogueEntry, QueueState } from 'millrace'
import { addRemoteOptions, type ClientOptions, withClientOrApi } from '../client.ts'
import { oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'
import { pausedBy } from './pauses.ts'

const help = `
Lists the queues that workers declare, idle ones too, and those in which jobs are. With --json: all that a queue declares.
`

export function queuesCommand(): Command {
  const command = new Command('queues')
    .summary('count what waits and what runs, by queue')
    .description(
      'Count the jobs of each queue that are due, scheduled for later, running, or blocked by others of their key.',
    )
  return addWatchOptions(addRemoteOptions(command)).addHelpText('after', help).action(act)
}

interface QueueRow extends QueueState {
  /** Null: no worker has declared it. */
  readonly declared: CatalogueEntry<'queue'> | null
}

async function act(options: ClientOptions, command: Command): Promise<void> {
  await withClientOrApi(command, options, async ({ millrace }) => {
    const queues = rowsOf(await millrace.queues(), await millrace.catalogue.list('queue'))
    if (options.json) return printJson(queues)
    if (queues.length === 0) return print('No worker has declared a queue, nothing waits and nothing runs.\n')
    print(
      table(['QUEUE', 'DUE', 'SCHEDULED', 'RUNNING', 'BLOCKED', 'SLA', 'OWNER', 'USE', 'PAUSED'], queues.map(cells)),
    )
  })
}

function rowsOf(counts: readonly QueueState[], declared: readonly CatalogueEntry<'queue'>[]): QueueRow[] {
  const counted = new Map(counts.map((each) => [each.queue, each]))
  const entries = new Map(declared.map((each) => [each.name, each]))
  return [...new Set([...entries.keys(), ...counted.keys()])].sort().map((queue) => ({
    ...(counted.get(queue) ?? { queue, due: 0, scheduled: 0, processing: 0, blocked: 0, pauses: [] }),
    declared: entries.get(queue) ?? null,
  }))
}

function cells({ queue, due, scheduled, processing, blocked, declared, pauses }: QueueRow): string[] {
  const { title = null, slaMs = null, owner = null, use = null } = declared?.document ?? {}
  return [
    title === null ? queue : `${queue} (${oneLine(title, 40)})`,
    ...[due, scheduled, processing, blocked].map(String),
    slaMs === null ? '' : `${slaMs / 1_000} s`,
    oneLine([owner?.name, owner?.address].filter(Boolean).join(', '), 60),
    oneLine(use, 60),
    pausedBy(pauses),
  ]
}
