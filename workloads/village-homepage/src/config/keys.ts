// Every key of application.yaml: what it may hold, and its default. The keys are the file's own, in kebab case.
import { z } from 'zod'

/** Environment variables are texts; so is a number between quotes. */
const numeric = (schema: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && /^-?[\d.]+$/.test(value) ? Number(value) : value), schema)

const whole = (least: number, most: number) => numeric(z.int().min(least).max(most))
const amount = (least: number, most: number) => numeric(z.number().min(least).max(most))
/** A key or a number of a file may look like a number: 0123. */
const text = z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string().min(1))
const optionalText = z.preprocess((value) => (value === '' || value === null ? undefined : value), text.optional())
const domain = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, { error: 'expected a domain such as relay.example.com' })
const url = z.url({ protocol: /^https?$/ })
const mailboxUrl = z.preprocess(
  (value) => (value === '' || value === null ? undefined : value),
  z
    .url({ protocol: /^imaps?$/, error: 'expected an address such as imaps://user:password@mail.example.com' })
    .optional(),
)
const optionalUrl = z.preprocess((value) => (value === '' || value === null ? undefined : value), url.optional())
const flag = z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean())
const list = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value),
  z.array(z.string().min(1)),
)

const perQueue = (defaults: Readonly<Record<(typeof QUEUES)[number], number>>, most: number) =>
  z.strictObject({
    high: whole(1, most).default(defaults.high),
    default: whole(1, most).default(defaults.default),
    screenshot: whole(1, most).default(defaults.screenshot),
    low: whole(1, most).default(defaults.low),
    bulk: whole(1, most).default(defaults.bulk),
  })

const QUEUES = ['high', 'default', 'screenshot', 'low', 'bulk'] as const

const escalation = z.strictObject({
  'pagerduty-key': optionalText,
  'pagerduty-url': url.default('https://events.pagerduty.com/v2/enqueue'),
  'slack-webhook': optionalText,
  'ops-email': z.email().default('ops@villagecompute.com'),
  /** A Slack webhook posts to one channel, so an owner's channel needs its own. */
  'owner-webhooks': z.partialRecord(z.enum(QUEUES), url).default({}),
})

const jobs = z.strictObject({
  'base-delay': whole(1, 3_600).default(30),
  'max-attempts': whole(1, 100).default(5),
  workers: perQueue({ high: 20, default: 10, screenshot: 3, low: 5, bulk: 8 }, 1_000).prefault({}),
  'poll-interval': perQueue({ high: 5, default: 10, screenshot: 10, low: 30, bulk: 60 }, 3_600).prefault({}),
  /** Default: as many as workers.screenshot. */
  'screenshot-concurrency': whole(1, 100).optional(),
  'ai-tagging': z.strictObject({ 'monthly-budget': amount(0, 1_000_000).default(500) }).prefault({}),
  escalation: escalation.prefault({}),
})

const feeds = z.strictObject({
  'error-threshold': whole(1, 100).default(5),
  timeout: whole(1, 100).default(30),
  'max-bytes': whole(1_024, 104_857_600).default(10_485_760),
  'user-agent': text.default('VillageHomepage/1.0 (+https://homepage.villagecompute.com/bot)'),
})

const ai = z.strictObject({
  'base-url': url.default('https://api.anthropic.com'),
  'api-key': optionalText,
  model: text.default('claude-sonnet-4-20250514'),
  'max-content-length': whole(100, 100_000).default(3_000),
  'max-tokens': whole(50, 8_192).default(300),
  temperature: amount(0, 1).default(0),
  timeout: whole(1, 100).default(30),
  'batches-per-run': whole(1, 1_000).default(12),
  /** USD per million tokens, by model. */
  prices: z
    .record(z.string(), z.strictObject({ input: amount(0, 10_000), output: amount(0, 10_000) }))
    .default({ 'claude-sonnet-4-20250514': { input: 3, output: 15 } }),
})

const stocks = z.strictObject({
  symbols: list.default(['AAPL', 'MSFT', 'GOOGL', 'AMZN', 'NVDA']),
  'daily-requests': whole(0, 100_000).default(25),
  source: z.enum(['alpha-vantage', 'stooq']).default('alpha-vantage'),
  'api-key': optionalText,
  /** Between two requests, in seconds: the free tier takes one a second. */
  'request-interval': amount(0, 60).default(1),
  'base-url': url.default('https://www.alphavantage.co'),
  'fallback-url': url.default('https://stooq.com'),
})

const location = z.strictObject({
  name: text,
  latitude: amount(-90, 90),
  longitude: amount(-180, 180),
  'time-zone': text,
  provider: z.enum(['nws', 'open-meteo']),
})

const weather = z.strictObject({
  'nws-url': url.default('https://api.weather.gov'),
  'nws-user-agent': optionalText,
  'open-meteo-url': url.default('https://api.open-meteo.com'),
  locations: z.array(location).default([]),
})

const settings = z.strictObject({
  jobs: jobs.prefault({}),
  feeds: feeds.prefault({}),
  ai: ai.prefault({}),
  stocks: stocks.prefault({}),
  weather: weather.prefault({}),
  mail: z
    .strictObject({
      'smtp-url': optionalText,
      'imap-url': mailboxUrl,
      'relay-domain': domain.default('relay.villagecompute.com'),
    })
    .prefault({}),
  site: z
    .strictObject({ url: url.default('https://homepage.villagecompute.com'), 'show-jobs': flag.default(false) })
    .prefault({}),
  clicks: z.strictObject({ 'retention-days': whole(1, 3_650).default(90) }).prefault({}),
  links: z
    .strictObject({
      timeout: whole(1, 10).default(10),
      /** Between two requests to one host, in seconds. */
      'request-interval': amount(0, 60).default(1),
    })
    .prefault({}),
  media: z
    .strictObject({
      'max-bytes': whole(1_024, 15_728_640).default(15_728_640),
      /** Pictures that one worker process makes smaller at once: each takes a whole core. */
      concurrency: whole(1, 100).default(2),
    })
    .prefault({}),
  screenshots: z
    .strictObject({
      /** Default: the one that npm brings for Linux on x64, or an installed Chromium or Chrome. */
      chromium: optionalText,
      /** Until a page has loaded, in seconds. */
      'load-timeout': whole(1, 30).default(30),
      /** Of a browser with its pages and the process that drives it. */
      'max-memory-mb': whole(128, 65_536).default(512),
    })
    .prefault({}),
  cdn: z.strictObject({ 'put-url': optionalUrl, 'public-url': optionalUrl, token: optionalText }).prefault({}),
  egress: z.strictObject({ allow: list.default([]) }).prefault({}),
  sandbox: z
    .preprocess((value) => (value === true ? 'on' : value === false ? 'off' : value), z.enum(['auto', 'on', 'off']))
    .default('auto'),
})

export const configurationFile = z.strictObject({ villagecompute: settings.prefault({}) })
