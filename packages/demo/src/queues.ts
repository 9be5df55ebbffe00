// The queues of Fernwick Parcels, and the services, limits and budgets that its jobs share.
import { defineBudget, defineLimit, defineQueues, defineService } from 'millrace'

const checkoutTeam = { name: 'Checkout team', channel: 'slack', address: '#checkout' }
const platformTeam = { name: 'Platform on call', channel: 'pagerduty', address: 'platform' }
const shopTeam = { name: 'Shop success', channel: 'email', address: 'shops@fernwick.example' }

export const queues = defineQueues({
  high: {
    title: 'High',
    use: 'what a customer at the till waits for',
    color: 'salmon',
    owner: checkoutTeam,
    priority: 1,
    concurrency: 20,
    timeout: '30s',
    sla: '10s',
    critical: true,
    escalation: 'page',
  },
  default: {
    title: 'Default',
    use: 'mails, texts and webhooks to customers and shops',
    color: 'cornflowerblue',
    owner: platformTeam,
    priority: 5,
    concurrency: 10,
    timeout: '1m',
    sla: '5m',
    escalation: 'chat',
  },
  screenshot: {
    title: 'Screenshot',
    use: 'pictures of product pages, in a browser',
    color: 'mediumpurple',
    owner: platformTeam,
    priority: 5,
    concurrency: 3,
    timeout: '2m',
    sla: '15m',
  },
  low: {
    title: 'Low',
    use: 'reports and invoices',
    color: 'mediumseagreen',
    owner: shopTeam,
    priority: 7,
    concurrency: 5,
    timeout: '5m',
    sla: '1h',
    logs: 'keep',
  },
  bulk: {
    title: 'Bulk',
    use: 'imports of whole catalogues, and newsletters',
    color: 'goldenrod',
    owner: shopTeam,
    priority: 9,
    concurrency: 8,
    timeout: '5m',
    sla: '4h',
    tenantJobs: { max: 2_000, over: 'warn' },
  },
})

/** Books vans. It answers 503 most of the time since yesterday: the broken integration of the demo. */
export const carrierService = defineService('kestrel-carrier', { failures: 5, openFor: '10m' })
/** Was down until a minute ago. */
export const textService = defineService('text-gateway', { failures: 3, openFor: '2m', successes: 5 })
export const paymentService = defineService('card-payments', { failures: 10, openFor: '30s' })

/** Each shop has one label printer. */
export const printer = defineLimit('printer', { running: 1, per: 'tenant' })
export const textRate = defineLimit('texts', { rate: '50/minute' })
export const newsletterRate = defineLimit('newsletters', { rate: '30/minute', per: 'tenant' })
export const browsers = defineLimit('browsers', { running: 3 })

/** The screening of orders costs a cent each, up to 400 a month. Nearly all of it is spent. */
export const screening = defineBudget('order-screening', { limit: 40_000, per: 'month', unit: 'cents' })
export const translation = defineBudget('translation', { limit: 25_000, per: 'day', unit: 'tokens' })
