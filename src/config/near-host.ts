/** Whether a host leads to this machine or to a service of the cluster, where sending in clear is safe. */
export function isNearHost(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)) return true;
  return !/[.:]/.test(hostname) || /\.svc(?:\.cluster\.local)?$/.test(hostname);
}
