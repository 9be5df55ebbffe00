/** The address of a database, for connections that pg_stat_activity shows under this name. */
export const named = (url: string, label: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}application_name=${label}`
