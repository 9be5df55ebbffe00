import { Command } from 'commander'
import type { AuditEntry, AuditFilter } from 'millrace'
import { addClientOptions, type ClientOptions, withClient } from '../client.ts'
import { addCsvOptions, type CsvOptions, demandPage, printCsv } from '../csv.ts'
import { fromNow, moreHint, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { addWatchOptions } from '../watch.ts'

const help = `
Every change that a person or program makes through Millrace leaves an entry, and so does every access to the rows of
another tenant that was refused. Newest first.

Examples:
  millrace audit
  millrace audit --by ann --action pause.set
  millrace audit --target 48211 --json
  millrace audit --by ann --csv > ann.csv
`

interface Options extends ClientOptions, CsvOptions, Omit<AuditFilter, 'limit'> {}

export function auditCommand(): Command {
  const command = new Command('audit')
    .summary('show who changed what')
    .description('Show who changed what, and what was refused to whom.')
    .option('--by <name>', 'only by this person or program')
    .option('--action <name>', 'only this action, such as job.cancel')
    .option('--target <name>', 'only about this job, dead letter, queue, schedule or the like')
    .option('--tenant <name>', 'only about this tenant')
    .option('--before <id>', 'only older entries than this one: the next page')
  return addWatchOptions(addClientOptions(addCsvOptions(command)))
    .addHelpText('after', help)
    .action(act)
}

async function act(options: Options, command: Command): Promise<void> {
  demandPage(command, options)
  await withClient(command, options, async ({ millrace }) => {
    const { by, action, target, tenant, before, limit } = options
    const given = Object.entries({ by, action, target, tenant, before }).filter(([, value]) => value !== undefined)
    if (options.csv)
      return printCsv(command, options, {
        ...{ kind: 'audit', goOn: '--before' },
        async page(next = before, size) {
          const place = next === undefined ? {} : { before: next }
          const rows = await millrace.audit.list({ ...Object.fromEntries(given), ...place, limit: size })
          return { rows, next: rows.length === size ? (rows.at(-1)?.id ?? null) : null }
        },
      })
    const entries = await millrace.audit.list({ ...Object.fromEntries(given), limit })
    if (options.json) return printJson(entries)
    if (entries.length === 0) return print(given.length > 0 ? 'No entries match.\n' : 'The audit log is empty.\n')
    print(table(['ID', 'WHEN', 'BY', 'ACTION', 'TARGET', 'TENANT', 'DETAILS'], entries.map(cells)))
    if (entries.length === limit) print(moreHint(command, entries.at(-1)?.id))
  })
}

function cells({ id, at, by, action, target, tenant, details }: AuditEntry): string[] {
  const told = details === null ? '' : JSON.stringify(details)
  return [id, fromNow(at), oneLine(by, 40), action, oneLine(target, 50), oneLine(tenant, 40), oneLine(told, 100)]
}
