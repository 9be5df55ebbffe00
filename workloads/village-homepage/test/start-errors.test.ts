// What `millrace work` says when the village cannot start: the whole truth in one go.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { setup } from './support/setup.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const MODULE = 'workloads/village-homepage/dist/src/index.js'

interface Ended {
  readonly code: number
  readonly said: string
}

const work = (env: Record<string, string>, ...options: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const args = ['packages/cli/bin/millrace.js', 'work', MODULE, ...options]
    const { PATH = '', HOME = '' } = process.env
    execFile(process.execPath, args, { cwd: root, env: { PATH, HOME, ...env } }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr })
    })
  })

test('without keys a worker does not start, and names all variables of the families that it runs', async () => {
  await using t = await setup()
  const all = await work({ DATABASE_URL: t.url })
  expect(all.code).not.toBe(0)
  expect(all.said).toContain(
    'Village Homepage cannot start: ANTHROPIC_API_KEY, ALPHAVANTAGE_API_KEY, NWS_USER_AGENT, PAGERDUTY_INTEGRATION_KEY, SLACK_OPS_WEBHOOK, SMTP_URL, IMAP_URL are not set.',
  )
  expect(all.said).toContain('Only `millrace dev` has a sandbox.')
  const high = await work(
    { DATABASE_URL: t.url, SLACK_OPS_WEBHOOK: 'https://hooks.slack.example/1' },
    '--queues',
    'HIGH',
  )
  expect(high.said).toContain(': ALPHAVANTAGE_API_KEY, PAGERDUTY_INTEGRATION_KEY, SMTP_URL are not set.')
})

test('a mistake in the configuration is told with its file and line before anything starts', async () => {
  const { code, said } = await work({
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    VILLAGECOMPUTE_JOBS_BASE_DELAY: 'soon',
  })
  expect(code).not.toBe(0)
  expect(said).toContain('VILLAGECOMPUTE_JOBS_BASE_DELAY: villagecompute.jobs.base-delay: expected a number')
})
