package jinja

import (
	"strings"

	"brine/internal/value"
)

// The names of filters and tests, for hints and the debug tag.

func filterNames() []string { return strings.Fields(allFilters) }

func testNames() []string { return strings.Fields(allTests) }

const allTests = `!= < <= == > >= boolean callable defined divisibleby eq equalto escaped even false filter float ge
	greaterthan gt in integer iterable le lessthan list lower lt mapping match ne none number odd sameas
	sequence string test true undefined upper`

const allFilters = `abs append_dict_key_value attr avg base64_decode base64_encode batch capitalize center
	check_whitelist_blacklist combinations combinations_with_replacement compare_dicts compare_lists compress
	connection_check contains_whitespace count d date_format default dict_to_sls_yaml_params dictsort difference
	dns_check e escape exactly_n_true exactly_one_true extend_dict_key_value file_hashsum filesizeformat
	filter_by_networks first flatten float forceescape format gen_mac get_uid groupby hmac hmac_compute
	http_query human_to_bytes indent int intersect ip_host ipaddr ipv4 ipv6 ipwrap is_bin_file is_binary_file is_empty
	is_empty_file is_hex is_ip is_ipv4 is_ipv6 is_iter is_list is_sorted is_text_file items join json
	json_decode_dict json_decode_list json_encode_dict json_encode_list json_query last length list list_files
	load_json load_text load_yaml lower mac_str_to_bytes map max md5 method_call min mysql_to_dict network_hosts
	network_size path_join permutations pprint product python quote rand_str random random_hash random_sample
	random_shuffle random_str regex_escape regex_match regex_replace regex_search reject rejectattr replace
	reverse round safe select selectattr sequence set_dict_key_value sha1 sha256 sha512 skip slice sort
	sorted_ignorecase str_to_num strftime string striptags substring_in_list sum symmetric_difference title
	to_bool to_bytes to_camelcase to_num to_snake_case tojson traverse trim truncate union unique
	update_dict_key_value upper urlencode urlize uuid which wordcount wordwrap xml xmlattr yaml yaml_dquote
	yaml_encode yaml_squote zip zip_longest`

// methodNames are the methods of v's type, for hints.
func methodNames(v value.Value) []string {
	names := ""
	switch v.(type) {
	case string, Markup:
		names = `capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha
			isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower
			lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split
			splitlines startswith strip swapcase title translate upper zfill`
	case *value.List:
		names = `append clear copy count extend index insert pop remove reverse sort`
	case value.Mapping:
		names = `clear copy fromkeys get items keys pop popitem setdefault update values`
	case value.Tuple:
		names = `count index`
	}
	return strings.Fields(names)
}
