-- Why a running job was asked to stop, kept beside the request until the job has ended.
alter table millrace.job
  add column cancel_reason text;
