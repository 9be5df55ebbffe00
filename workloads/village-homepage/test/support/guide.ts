// The village's guides for operators: their commands run against its admin API.
import { serve as served } from '../../../../test/support/guide.ts'
import type { Village } from './setup.ts'

export { hasPrograms, one } from '../../../../test/support/guide.ts'

export const serve = ({ millrace, url, village }: Village, { isDevelopment }: { isDevelopment: boolean }) =>
  served({ millrace, url, routes: village.routes ?? [], isDevelopment })
