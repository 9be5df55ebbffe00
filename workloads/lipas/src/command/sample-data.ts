// `lipas sample-data`: an invented municipality for an empty register.
import { Command } from 'commander'
import { loadSampleData } from '../sandbox/load-sample-data.ts'
import { MUNICIPALITY } from '../sandbox/municipality.ts'
import { databaseOption, fail, withRegister } from './register.ts'

const help = `
A register that has places is left as it is. \`millrace dev\` does the same at its first start.

Examples:
  lipas sample-data
`

export function sampleDataCommand(): Command {
  return new Command('sample-data')
    .summary('fill an empty register with an invented municipality')
    .description('Fill an empty register with an invented municipality: places, people, reminders.')
    .option('--json', 'the answer as JSON')
    .addOption(databaseOption())
    .addHelpText('after', help)
    .action(act)
}

async function act({ databaseUrl, json }: { databaseUrl?: string; json?: boolean }, command: Command): Promise<void> {
  try {
    const { length: places } = await withRegister(databaseUrl, ({ database }) => loadSampleData(database))
    const text =
      places === 0
        ? 'The register has places already, so nothing was written.'
        : `The register has the municipality ${MUNICIPALITY} now: ${places} places.`
    process.stdout.write(`${json ? JSON.stringify({ municipality: MUNICIPALITY, places }) : text}\n`)
  } catch (error) {
    fail(command, error)
  }
}
