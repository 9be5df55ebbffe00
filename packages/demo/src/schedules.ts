// What Fernwick Parcels does by the clock.
import { cron, defineSchedule, every } from 'millrace'
import { indexCatalogue, renderInvoice, reportSales } from './contracts.ts'

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

export const schedules = [
  defineSchedule({
    name: 'sales-report',
    job: reportSales,
    when: cron('0 6 * * *', { timeZone: 'Europe/Helsinki' }),
    payload: ({ fireAt }) => ({ day: dayOf(fireAt) }),
  }),
  defineSchedule({
    name: 'invoices',
    job: renderInvoice,
    when: cron('30 1 * * 1-5'),
    payload: ({ fireAt }) => ({ invoiceId: `INV-${dayOf(fireAt)}`, lines: 120 }),
  }),
  defineSchedule({
    name: 'index-of-copper-kettle',
    job: indexCatalogue,
    when: every('15m'),
    tenant: 'copper-kettle',
    overlap: 'skip',
    payload: { shop: 'copper-kettle', products: 640 },
  }),
]
