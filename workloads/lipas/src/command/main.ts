// The command `lipas`: what an operator does once or now and then. What runs all the time is `millrace work` and `millrace admin`.
import { Command } from 'commander'
import { importQueuesCommand } from './import-queues.ts'
import { reindexCommand } from './reindex.ts'
import { sampleDataCommand } from './sample-data.ts'
import { sandboxCommand } from './sandbox.ts'

const help = `
The database is the one in DATABASE_URL, or that of --database-url. It must be migrated:
  npx millrace migrate workloads/lipas/dist/src/index.js

Examples:
  lipas import-queues --dry-run
  lipas reindex
  lipas sandbox
`

export function program(): Command {
  return new Command('lipas')
    .description('Register of sports places: import from older queues, search index, sample data, sandbox.')
    .addHelpText('after', help)
    .showHelpAfterError('(lipas --help lists the commands)')
    .addCommand(importQueuesCommand())
    .addCommand(reindexCommand())
    .addCommand(sampleDataCommand())
    .addCommand(sandboxCommand())
}

export async function main(argv: readonly string[] = process.argv): Promise<void> {
  await program().parseAsync([...argv])
}
