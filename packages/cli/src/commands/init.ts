import { spawn } from 'node:child_process'
import { relative } from 'node:path'
import { Command } from 'commander'
import { fail, Refused } from '../failure.ts'
import { argument, print, printJson } from '../print.ts'
import { type Project, scaffold } from '../scaffold.ts'

const help = `
Writes a TypeScript project with one job, one schedule and one test, and installs what it needs. It runs at once:

  millrace init my-jobs --packages ~/millrace-packs
  cd my-jobs && npm run dev

The packages are not on npm yet. Pack them in a clone of Millrace, and name the folder with --packages:

  npm ci && npm run build
  npm pack --workspace=packages --pack-destination ~/millrace-packs
`

interface Options {
  readonly packages: string
  readonly install: boolean
  readonly json?: true
}

export function initCommand(): Command {
  return new Command('init')
    .summary('start a new project in an empty folder')
    .description('Start a new project: TypeScript, one job, one schedule, one test.')
    .argument('[folder]', 'an empty or new folder', '.')
    .requiredOption('--packages <folder>', 'where the packed tarballs of Millrace are')
    .option('--no-install', 'write the files only, and leave `npm install` to you')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(act)
}

async function act(folder: string, options: Options, command: Command): Promise<void> {
  try {
    const project = await scaffold(folder, options.packages)
    if (options.json !== true) print(`${project.files.map((file) => `  wrote ${file}\n`).join('')}`)
    if (options.install) await install(project, options.json === true)
    if (options.json) return printJson({ ...project, isInstalled: options.install })
    print(nextSteps(project, options.install))
  } catch (error) {
    fail(command, error)
  }
}

function nextSteps({ folder, name }: Project, isInstalled: boolean): string {
  const place = relative(process.cwd(), folder)
  const steps = [
    ...(place === '' ? [] : [`cd ${argument(place)}`]),
    ...(isInstalled ? [] : ['npm install']),
    'npm run dev',
    `npx millrace enqueue greet '{"name":"Ada"}' --wait   # in a second terminal`,
  ]
  return `\n${name} is ready. Next:\n\n${steps.map((step) => `  ${step}\n`).join('')}\n`
}

/** What npm says goes to stderr, so that stdout stays ours. */
function install({ folder }: Project, isQuiet: boolean): Promise<void> {
  if (!isQuiet) print('  npm install …\n')
  return new Promise((resolve, reject) => {
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error']
    const npm = spawn('npm', args, { cwd: folder, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
    npm.once('error', (cause) => reject(new Refused(`npm could not be started: ${cause.message}. ${LEFT}`)))
    npm.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Refused(`npm install ended with code ${code}; npm says why above. ${LEFT}`)),
    )
  })
}

const LEFT = 'The files are written: run `npm install` there when the cause is gone.'
