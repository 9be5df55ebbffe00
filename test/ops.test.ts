// The files of ops/: rules that Prometheus accepts, and a dashboard whose queries are PromQL.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ops = fileURLToPath(new URL('../ops/', import.meta.url))
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const program = test.skipIf(!hasPromtool)

if (!hasPromtool)
  console.warn('promtool is not installed: the tests of ops/ are skipped. `apt-get install prometheus` has it.')

/** Every query of a dashboard, with Grafana's variables filled in. */
function queries(dashboard: string): string[] {
  const { panels } = JSON.parse(readFileSync(join(ops, 'grafana', dashboard), 'utf8'))
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }: { expr: string }) => expr.replaceAll('$queue', '.*').replaceAll('$source_id', 'xyz')),
  )
}

program.each([
  ['millrace-rules.yaml', 'millrace-rules.test.yaml'],
  ['village.yaml', 'village.test.yaml'],
])('the rules of %s are valid, and their unit tests pass', (rules, tests) => {
  const cwd = join(ops, 'prometheus')
  expect(execFileSync('promtool', ['check', 'rules', rules], { cwd, encoding: 'utf8' })).toContain('SUCCESS')
  expect(spawnSync('promtool', ['test', 'rules', tests], { cwd, encoding: 'utf8' })).toMatchObject({ status: 0 })
})

program('the unit tests fail when a rule is wrong', () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-rules-'))
  try {
    for (const name of ['millrace-rules.yaml', 'millrace-rules.test.yaml']) {
      const text = readFileSync(join(ops, 'prometheus', name), 'utf8')
      writeFileSync(join(directory, name), text.replace('max by (queue, type, status)', 'sum by (queue, type, status)'))
    }
    const { status, stderr } = spawnSync('promtool', ['test', 'rules', 'millrace-rules.test.yaml'], {
      cwd: directory,
      encoding: 'utf8',
    })
    expect(status).not.toBe(0)
    expect(stderr).toContain('MillraceQueueDepth')
  } finally {
    rmSync(directory, { recursive: true })
  }
})

program.each([
  ['millrace.json', 30],
  ['village.json', 18],
])('every query of the dashboard %s is PromQL', (dashboard, least) => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-queries-'))
  try {
    const rules = queries(dashboard).map(
      (expr, i) => `      - record: query:${i}\n        expr: ${JSON.stringify(expr)}\n`,
    )
    expect(rules.length).toBeGreaterThan(least)
    const file = join(directory, 'queries.yaml')
    writeFileSync(file, `groups:\n  - name: dashboard\n    rules:\n${rules.join('')}`)
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect({ status, stdout }).toMatchObject({ status: 0 })
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('the queries that systems name run as they are written', () => {
  const named = [
    'sum by (queue) (job_queue_backlog_total)',
    'histogram_quantile(0.95, sum by (queue, le) (rate(job_execution_duration_seconds_bucket[5m])))',
    'screenshot_concurrency_utilization / 3 * 100',
  ]
  expect(queries('millrace.json')).toEqual(expect.arrayContaining(named))
  const ofFeeds = 'histogram_quantile(0.95, rate(rss_fetch_duration_bucket{source_id="xyz"}[5m]))'
  expect(queries('village.json')).toEqual(expect.arrayContaining([...named, ofFeeds]))
})
