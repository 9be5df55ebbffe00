// What Dartwing measures itself, beside the platform's metrics. None names an organization.
import { type DefinedMetric, defineCounter } from '@millrace/telemetry'

export const faxPages = defineCounter('dartwing_fax_pages_total', {
  help: 'Pages of faxes that ended, by outcome: sent or failed.',
  labels: ['outcome'],
})

export const importRows = defineCounter('dartwing_import_rows_total', {
  help: 'Rows of imports, by result: inserted, updated or refused.',
  labels: ['result'],
})

export const syncConflicts = defineCounter('dartwing_sync_conflicts_total', {
  help: 'Values that lost to others which were set without knowing them.',
})

export const dartwingMetrics: DefinedMetric[] = [faxPages, importRows, syncConflicts]
