// What the environment may say: WORKER_* variables, LIPAS_* variables, and mistakes in both.
import { implement, workSettingsFrom } from 'millrace'
import { expect, test } from 'vitest'
import { contracts } from '#src/contracts'
import { addressesOf } from '#src/outside/addresses'
import { readSettings, workSettings } from '#src/settings'
import { setup } from './support/lipas.ts'

const from = (env: Record<string, string>) => workSettingsFrom(env, contracts, workSettings)

test('without variables a worker has the settings of the register', () => {
  expect(from({})).toEqual(workSettings)
})

test('all twelve WORKER_* variables take effect', () => {
  const settings = from({
    WORKER_FAST_THREADS: '4',
    WORKER_GENERAL_THREADS: '6',
    WORKER_BATCH_SIZE: '20',
    WORKER_POLL_INTERVAL_MS: '1000',
    WORKER_FAST_TIMEOUT_MINUTES: '3',
    WORKER_SLOW_TIMEOUT_MINUTES: '25',
    WORKER_STUCK_JOB_TIMEOUT_MINUTES: '90',
    WORKER_MEMORY_CHECK_INTERVAL_MS: '30000',
    WORKER_MEMORY_THRESHOLD_PERCENT: '70',
    WORKER_ANALYSIS_TIMEOUT_MINUTES: '40',
    WORKER_ELEVATION_TIMEOUT_MINUTES: '15',
    WORKER_EMAIL_TIMEOUT_MINUTES: '2',
  })
  const minutes = (count: number) => count * 60_000
  expect(settings).toEqual({
    lanes: {
      fast: { slots: 4, takes: 'fast', timeout: minutes(3) },
      general: { slots: 6, timeout: minutes(25) },
    },
    ...{ batchSize: 20, pollInterval: 1_000, stuckAfter: minutes(90) },
    timeouts: { analysis: minutes(40), elevation: minutes(15), email: minutes(2) },
    memory: { checkInterval: 30_000, thresholdPercent: 70 },
  })
})

test('a timeout that reaches the stuck limit is refused when a worker starts, and so is a misspelt type', async () => {
  await using t = await setup()
  const handlers = contracts.map((contract) => implement(contract, () => ({}) as never))
  const settings = from({ WORKER_ANALYSIS_TIMEOUT_MINUTES: '60' })
  await expect(t.millrace.work({ ...settings, handlers })).rejects.toThrow(
    /stuckAfter .* job "analysis" .* longer than every timeout/,
  )
  expect(() => from({ WORKER_ANALYSYS_TIMEOUT_MINUTES: '40' })).toThrow(
    'Did you mean "WORKER_ANALYSIS_TIMEOUT_MINUTES"?',
  )
})

test('every mistake in LIPAS_* variables is told at once', () => {
  const env = {
    LIPAS_SMTP_ULR: 'x',
    LIPAS_MAIL_FROM: 'nobody',
    LIPAS_TIME_ZONE: 'Europe/Helsinky',
    LIPAS_DISTANCE_MODE: 'fly',
  }
  expect(() => readSettings(env)).toThrow(
    [
      'The settings of LIPAS cannot be used:',
      '  LIPAS_SMTP_ULR is not a setting. Did you mean LIPAS_SMTP_URL?',
      '  LIPAS_MAIL_FROM: expected an e-mail address',
      '  LIPAS_DISTANCE_MODE: expected route or euclid',
      '  LIPAS_TIME_ZONE: expected a time zone like Europe/Helsinki',
    ].join('\n'),
  )
})

test('alerts go to Slack or to a signed webhook, and a webhook needs its secret', () => {
  const slack = { LIPAS_SLACK_WEBHOOK: 'https://hooks.slack.example/services/x' }
  const hook = {
    LIPAS_ALERT_WEBHOOK_URL: 'https://ops.example/',
    LIPAS_ALERT_WEBHOOK_SECRET: `whsec_${'a'.repeat(32)}`,
  }
  expect(readSettings(slack)).toEqual(slack)
  expect(readSettings(hook)).toEqual(hook)
  expect(() => readSettings({ ...slack, ...hook })).toThrow('are both set')
  expect(() => readSettings({ LIPAS_ALERT_WEBHOOK_URL: 'https://ops.example/' })).toThrow('Set both, or none')
})

test('a worker names every address that is missing; the web process needs that of the search alone', () => {
  expect(() => addressesOf({}, 'work')).toThrow(
    /LIPAS_SMTP_URL, LIPAS_MAIL_FROM, .*LIPAS_UTP_SUBSCRIPTION_KEY are not set/,
  )
  expect(() => addressesOf({}, 'admin')).toThrow('LIPAS cannot start: LIPAS_SEARCH_URL is not set.')
  expect(() => addressesOf({ LIPAS_SEARCH_URL: 'http://127.0.0.1:9200' }, 'admin')).not.toThrow()
})
