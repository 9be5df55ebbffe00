// Who looks at the page, and how times are told to them.
import type { PageContext } from '@millrace/admin'
import { TIME_ZONE } from '../schedules.ts'
import type { LipasSystem } from '../system.ts'

type Caller = PageContext['caller']

/** Everybody sees the map; whoever is logged in sees the work, too. */
export const maySeeWork = (caller: Caller): boolean => caller !== null && caller.tenants === null
export const mayOperate = (caller: Caller): boolean => maySeeWork(caller) && caller?.role !== 'viewer'

export const timeZoneOf = ({ settings }: LipasSystem): string => settings.LIPAS_TIME_ZONE ?? TIME_ZONE
