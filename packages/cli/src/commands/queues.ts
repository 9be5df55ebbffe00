import { Command } from 'commander'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { print, printJson } from '../print.ts'
import { table } from '../table.ts'

export function queuesCommand(): Command {
  const command = new Command('queues')
    .summary('count what waits and what runs, by queue')
    .description(
      'Count the jobs of each queue that are due, scheduled for later, running, or blocked by others of their key.',
    )
  return addClientOptions(command).action(act)
}

async function act(options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const queues = await millrace.queues()
    if (options.json) return printJson(queues)
    if (queues.length === 0) return print('Nothing waits and nothing runs.\n')
    const rows = queues.map(({ queue, due, scheduled, processing, blocked }) => [
      queue,
      ...[due, scheduled, processing, blocked].map(String),
    ])
    print(table(['QUEUE', 'DUE', 'SCHEDULED', 'RUNNING', 'BLOCKED'], rows))
  })
}
