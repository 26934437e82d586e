{{- /* A Kubernetes quantity in MiB; 0 if it has another form. */ -}}
{{- define "gatewarden.mebibytes" -}}
{{- $text := kindIs "string" . | ternary (toString .) (int64 . | toString) -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := regexReplaceAll "^[0-9.]+" $text "" -}}
{{- if hasKey $units $unit -}}
{{- divf (mulf (regexFind "^[0-9.]+" $text | float64) (get $units $unit | float64)) 1048576 -}}
{{- else -}}
0
{{- end -}}
{{- end -}}

{{- /* Refuses values that contradict each other: the schema cannot compare them. */ -}}
{{- define "gatewarden.checks" -}}
{{- $scaling := .Values.gateway.autoscaling -}}
{{- if and $scaling.enabled (gt (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- fail (printf "gateway.autoscaling: minReplicas (%d) must be at most maxReplicas (%d)" (int $scaling.minReplicas) (int $scaling.maxReplicas)) -}}
{{- end -}}
{{- $ports := list -}}
{{- $servers := list -}}
{{- $tokens := list -}}
{{- range .Values.gateway.stdioServers -}}
{{- $ports = append $ports (int64 .port) -}}
{{- $servers = append $servers .name -}}
{{- $tokens = append $tokens (printf "%s/%s" .token.secret .token.key) -}}
{{- end -}}
{{- if or (ne (len $ports) (len (uniq $ports))) (ne (len $servers) (len (uniq $servers))) -}}
{{- fail "gateway.stdioServers: each must have a name and a port of its own" -}}
{{- end -}}
{{- if ne (len $tokens) (len (uniq $tokens)) -}}
{{- fail "gateway.stdioServers: each must have a token of its own (token.secret and token.key), or one server can call another" -}}
{{- end -}}
{{- $engine := .Values.inference -}}
{{- $limits := default dict $engine.resources.limits -}}
{{- if and (ne $engine.mode "Disabled") $limits.memory -}}
{{- $limit := include "gatewarden.mebibytes" $limits.memory | float64 -}}
{{- if and $limit (gt (float64 $engine.maxRssMiB) $limit) -}}
{{- fail (printf "inference: maxRssMiB (%d) must be at most resources.limits.memory (%v), or the engine is killed before it can restart itself" (int $engine.maxRssMiB) $limits.memory) -}}
{{- end -}}
{{- end -}}
{{- $own := .Values.controller -}}
{{- if and $own.platformNamespace (not $own.allNamespaces) (not (has $own.platformNamespace (splitList "," (include "gatewarden.namespaces" .)))) -}}
{{- fail (printf "controller: platformNamespace (%s) must be one of the namespaces that it watches" $own.platformNamespace) -}}
{{- end -}}
{{- end -}}
