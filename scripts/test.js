// Runs projects of the tests, then runs the tests that failed once more, alone.
// A test that passes only then is listed: it waits for time, or it has found a race. More than three of them fail CI,
// because then the second tries hide something.
//
// Usage: node scripts/test.js <project,project…> [what vitest takes: paths, -t, --maxWorkers …]
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MOST_SECOND_TRIES = 3
/** A run in which more tests fail than this is broken, not unlucky. */
const MOST_FAILURES = 20

const [projects = 'tests', ...args] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
try {
  process.exitCode = await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  const first = await run('first', args)
  if (first.code === 0) return 0
  // A file that could not be loaded, an error that came during no test, an interrupt: a second try would hide it.
  const { failures, isOnlyTests } = first
  if (!isOnlyTests || failures.length === 0 || failures.length > MOST_FAILURES) return first.code

  console.log(`\nRunning ${failures.length} failed test(s) once more, alone.\n`)
  const files = [...new Set(failures.map(({ file }) => file))]
  const names = failures.map(({ name }) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`).join('|')
  const second = await run('second', [...files, '-t', names, '--maxWorkers', '1'])
  if (second.code !== 0) return second.code
  if (second.passed < failures.length) {
    console.error(`Only ${second.passed} of ${failures.length} failed tests ran again, so the first result counts.`)
    return first.code
  }

  console.warn(`Second tries: ${failures.map(({ file, name }) => `${file} > ${name}`).join('; ')}`)
  if (failures.length <= MOST_SECOND_TRIES || !process.env.CI) return 0
  console.error(
    `${failures.length} tests needed a second try; at most ${MOST_SECOND_TRIES} may. Find out what they wait for.`,
  )
  return 1
}

async function run(name, vitestArgs) {
  const report = join(folder, `${name}.json`)
  const chosen = projects.split(',').flatMap((project) => ['--project', project])
  const command = ['node_modules/vitest/vitest.mjs', 'run', ...chosen, ...vitestArgs]
  const child = spawn(process.execPath, command, {
    stdio: 'inherit',
    env: { ...process.env, MILLRACE_TEST_REPORT: report },
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  const code = await new Promise((resolve) => child.once('exit', (exit) => resolve(exit ?? 1)))
  return { code, ...failuresIn(report) }
}

function failuresIn(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return { failures: [], passed: 0, isOnlyTests: false }
  }
}
