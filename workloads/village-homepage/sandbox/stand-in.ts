// The sandbox as the village sees it: it stands in for outside services under `millrace dev`, and has feeds to follow.
import { portBeside } from '@millrace/sandbox'
import type { Addresses, ServiceName, Stand, Sandbox as StandIn } from '../src/outside/services.ts'
import type { VillageParts } from '../src/village-parts.ts'
import { CDN_TOKEN } from './cdn.ts'
import { seedBudget } from './seed-budget.ts'
import { seedMarket } from './seed-market.ts'
import { forgetCdn, seedSites } from './seed-sites.ts'
import { seedSocial } from './seed-social.ts'
import { seedSources } from './seed-sources.ts'
import { type Sandbox, startSandbox } from './server.ts'

/** Long enough to watch the tags come. */
const LATENCY_MS = 150

/** For the option `sandbox` of villageHomepage: one port above that of the village, or the next free one. */
export async function startStandIn(
  parts: VillageParts,
  stands: Readonly<Record<ServiceName, Stand>>,
): Promise<StandIn> {
  const { database } = parts
  const sandbox = await startSandbox({ port: portBeside(), latencyMs: LATENCY_MS })
  await seedSources(database, sandbox.urlOf('feeds'))
  await seedSocial(parts, { instagram: sandbox.urlOf('instagram'), mastodon: sandbox.urlOf('mastodon') })
  if (stands.imap === 'sandbox' && stands.smtp === 'sandbox') await seedMarket(database)
  await seedSites(database, sandbox.urlOf('sites'))
  if (stands.cdn === 'sandbox') await forgetCdn(database)
  if (stands.anthropic === 'sandbox') await seedBudget(database)
  return standIn(sandbox)
}

export const standIn = (sandbox: Sandbox): StandIn => ({
  url: sandbox.url,
  allow: [sandbox.address],
  addresses: addressesOf(sandbox),
  stop: () => sandbox.stop(),
})

const addressesOf = ({ urlOf, smtpUrl, imapUrl }: Sandbox): Addresses => ({
  anthropic: { baseUrl: urlOf('anthropic'), apiKey: 'sandbox' },
  'alpha-vantage': { baseUrl: urlOf('alpha-vantage'), apiKey: 'sandbox' },
  stooq: { baseUrl: urlOf('stooq') },
  nws: { baseUrl: urlOf('nws'), userAgent: 'VillageHomepage/1.0 (sandbox)' },
  'open-meteo': { baseUrl: urlOf('open-meteo') },
  pagerduty: { url: `${urlOf('pagerduty')}/v2/enqueue`, integrationKey: 'sandbox' },
  slack: { webhook: `${urlOf('slack')}/ops-alerts`, ownerWebhooks: ownersOf(urlOf('slack')) },
  smtp: { url: smtpUrl },
  imap: { url: imapUrl },
  cdn: { putUrl: urlOf('cdn'), publicUrl: urlOf('cdn'), token: CDN_TOKEN },
})

/** By queue, the channel of its owner. */
const OWNERS = { default: 'platform-feeds', screenshot: 'good-sites', low: 'analytics', bulk: 'ai-pipelines' }

const ownersOf = (slackUrl: string): Record<string, string> =>
  Object.fromEntries(Object.entries(OWNERS).map(([queue, channel]) => [queue, `${slackUrl}/${channel}`]))
