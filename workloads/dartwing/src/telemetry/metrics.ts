// What Dartwing measures itself, beside the platform's metrics. None names an organization.
import { type DefinedMetric, defineCounter } from '@millrace/telemetry'

export const faxPages = defineCounter('dartwing_fax_pages_total', {
  help: 'Pages of faxes that ended, by outcome: sent or failed.',
  labels: ['outcome'],
})

export const dartwingMetrics: DefinedMetric[] = [faxPages]
