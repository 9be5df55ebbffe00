import { Command } from 'commander'
import { previewCommand } from './schedules-preview.ts'

const help = `
Examples:
  millrace schedules preview '0 8 * * *' --tz Europe/Helsinki    when would this fire?
`

export function schedulesCommand(): Command {
  return new Command('schedules')
    .summary('look at schedules, and when they fire')
    .description('Look at schedules, and when they fire.')
    .addHelpText('after', help)
    .addCommand(previewCommand())
}
